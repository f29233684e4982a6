"""A client against a stub provider, as the tests of the way to a model have it."""

from tests.llm import conftest as llm

pump, loop_thread, eventually = llm.pump, llm.loop_thread, llm.eventually
provider_process, provider = llm.provider_process, llm.provider
