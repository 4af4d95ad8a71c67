"""The client: a budget on a server, used like one that is here.

=============  ========================================================================================================
connection     one server: https, a token, and what happens when the connection is lost
problems       the errors of a server as the same errors that Sitr raises here
books          the ledger of a data set, as far as its server shows it
call           how a question is sent
far            budgets whose questions are planned and previewed here, and asked there
far_team       what a team does: divide the budget, set rules and roles, ask for approval, and decide
far_synthesis  synthetic rows: the model is fitted there, and rows are drawn here
connect        `sitr.connect`
=============  ========================================================================================================

Questions are checked, planned and previewed on this machine, from the public description. Then the question is sent
as text, with the hash of the plan: the server makes its own plan, and refuses before the charge if it is another one.
"""
