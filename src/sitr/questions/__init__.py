"""What was asked: each kind of question turns a price into a plan, and exact integers into an answer."""
