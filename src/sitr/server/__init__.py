"""The server: a team asks over HTTP and on a web page, a steward approves, an auditor verifies.

=============  ========================================================================================================
settings       what the operator decides: data sets, addresses, limits, the secret
users          accounts, invitations, sessions and API tokens, in a database of the server's own
access         who may call which route: every route names its roles, and a test walks them all
connection     closes connections that send too slowly
guard          what every request passes first: host, size, origin, rate, and the headers of every response
office         what people do with data sets, each in their own name; it calls the session and the ledger
sent           what people send, and how long it may be
problems       errors as RFC 9457 problems, and as pages
asking         a question before it is asked: its price, its errors, and an answer about invented rows
registration   to register a file from a folder that the operator allowed, by a form
registered     the same by a description, over the API
publications   public pages: what a steward has shown to everybody
similar        questions like another one
api, pages     the routes; `pages` has a file for each page
play           calculators for strangers
=============  ========================================================================================================

No rule about budgets or privacy lives here: a charge goes through the door of `sitr.session`, and who may charge is
written in the ledger.
"""
