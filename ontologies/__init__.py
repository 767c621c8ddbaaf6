"""The bundled ontologies, as Turtle files; ``conceptpubsub.Ontology.bundled(name)`` opens one."""
