"""The question: from SQL text or frame calls to nodes, to bounded contributions, to a plan with its price."""
