"""labcat inside other packages; each module needs the package it is named after."""
