// Compiles to nothing: a target that others take precompiled headers from needs a file of its own.
