"""Totals by one scan, one sort and arithmetic on whole arrays: the quick way to read most questions from DuckDB.

`layout` says which trees can be read this way and how a row is packed into integers, from public facts alone. `scan`
writes the statement, `words` counts granules and packs them, `arrange` sorts the packed rows by person and group,
`choose` applies the caps as `sitr.backends.reading` proves them, `totals` adds up, and `passes` reads people in parts
that fit into memory.
"""
