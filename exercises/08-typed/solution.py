from labkit.resources import APIObject, Int, List, Map, Object, Resource, Str, cel, crd


class Quai(Resource):
    nom = Str(required=True, pattern="^[a-z]+-[0-9]+$")
    sens = Str(enum=["entree", "sortie"], default="entree")


class Capacite(
    Resource,
    rules=[cel("self.reserve <= self.colis", message="more is reserved than there is room for", field_path=".reserve")],
):
    colis = Int(minimum=1, maximum=100000, default=1000)
    reserve = Int(minimum=0, default=0)


class Spec(Resource):
    ville = Str(required=True, min_length=1, rules=[cel("self == oldSelf", message="a depot does not move")])
    quais = List(Quai, required=True, min_items=1, max_items=8, list_type="map", list_map_keys=["nom"])
    capacite = Object(Capacite, default={"colis": 1000, "reserve": 0})
    etiquettes = Map(Str())


class Depot(APIObject, group="cours.example.com", version="v1", plural="depots"):
    spec = Object(Spec, required=True)


print(crd(Depot).to_yaml())
