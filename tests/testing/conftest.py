"""One stub provider for every test of it."""

from tests.provider import one_provider

provider_process, provider = one_provider.provider_process, one_provider.provider
