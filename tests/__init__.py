"""The tests: a package, so that processes they start do not import the tests of an installed library instead."""
