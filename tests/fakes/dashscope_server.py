"""DashScope on loopback: its own generation API, and its OpenAI dialect, which only streams."""

from collections.abc import Callable
from typing import Any

from fakes.faults import Plan
from fakes.http_server import HttpServer, Request, Response, json_response
from fakes.openai_server import completion, stream

GENERATION = "/api/v1/services/aigc/multimodal-generation/generation"
COMPATIBLE = "/compatible-mode/v1/chat/completions"


def generation(text: str | None = "A dog barks.", finish_reason: str = "stop") -> dict[str, Any]:
    """A reply of the generation API."""
    content = [] if text is None else [{"text": text}]
    message = {"role": "assistant", "content": content}
    return {
        "request_id": "r-1",
        "output": {"choices": [{"finish_reason": finish_reason, "message": message}]},
        "usage": {"input_tokens": 33, "output_tokens": 10, "audio_tokens": 85},
    }


class DashScopeServer(HttpServer):
    """Answers at both paths; a wrong key is 401, a request that does not stream is 400."""

    def __init__(self, *, key: str, plan: Plan | None = None) -> None:
        super().__init__(self._answer, plan, _error)
        self.generation: Callable[[], dict[str, Any]] = generation
        self.completion: Callable[[], dict[str, Any]] = completion
        self._key = key

    @property
    def base_url(self) -> str:
        """What DASHSCOPE_HTTP_BASE_URL is set to."""
        return f"{self.url}/api/v1"

    def _answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self._key}":
            return json_response({"code": "InvalidApiKey", "message": "Invalid API-key."}, 401)
        if request.method != "POST" or request.path not in (GENERATION, COMPATIBLE):
            return json_response(_error(404), 404)
        if request.path == GENERATION:
            return json_response(self.generation())
        if not request.json.get("stream"):
            said = {"message": "only streaming is supported", "code": "invalid_parameter_error"}
            return json_response({"error": said}, 400)
        return Response(stream(self.completion()), headers={"Content-Type": "text/event-stream"})


def _error(code: int) -> dict[str, Any]:
    names = {429: "Throttling.RateQuota", 500: "InternalError"}
    return {"code": names.get(code, "Fault"), "message": f"fault {code}", "request_id": "r-1"}
