"""The pages for people who are logged in, one file for each."""

from sitr.server.pages import answers, ask, datasets, people, publish, registration, requests, synthetic
from sitr.server.pages.routes import router

__all__ = ["answers", "ask", "datasets", "people", "publish", "registration", "requests", "router", "synthetic"]
