# The fields are declared one by one, as a program that reads them from somewhere would.
from labkit.resources import APIObject, Int, List, Map, Resource, Str, Struct, cel, crd, declare


class Spec(Resource):
    pass


class Depot(APIObject, group="cours.example.com", version="v1", plural="depots"):
    pass


stays = cel("self == oldSelf")
fits = cel("self.colis >= self.reserve", message="no room", reason="FieldValueForbidden")
numbers = {"colis": Int(minimum=1, maximum=100_000, default=1000), "reserve": Int(minimum=0, default=0)}
dock = {"nom": Str(required=True, pattern="^[a-z]+-[0-9]+$"), "sens": Str(enum=["sortie", "entree"], default="entree")}

declare(Spec, "ville", Str(pattern="."), required=True, rules=[stays])
declare(Spec, "capacite", numbers, default={"reserve": 0, "colis": 1000}, rules=[fits])
declare(
    Spec, "quais", List(Struct(dock), required=True, min_items=1, max_items=8, list_type="map", list_map_keys=["nom"])
)
declare(Spec, "etiquettes", Map(Str()))
declare(Depot, "spec", Spec, required=True)

print(crd(Depot).to_json())
