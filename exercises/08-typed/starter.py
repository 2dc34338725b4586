from labkit.resources import APIObject, Object, Resource, Str, crd


class Spec(Resource):
    ville = Str()
    # the rest of a depot


class Depot(APIObject, group="cours.example.com", version="v1", plural="depots"):
    spec = Object(Spec)


print(crd(Depot).to_yaml())
