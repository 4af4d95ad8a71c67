"""The aggregate functions of questions, one file each; `registry` lists them."""
