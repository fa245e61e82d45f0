"""The errands that not every vendor runs: embeddings, speech, transcription, pictures."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from teahouse.core.messages import Usage
from teahouse.llm.embedding import Embedded, Embedder, EmbedRequest, Input
from teahouse.llm.errand import Attempt
from teahouse.llm.errors import NotOffered, Offer
from teahouse.llm.meter import Count, MediaCount
from teahouse.llm.pictures import Painted, Painter, PictureRequest
from teahouse.llm.provider import Provider
from teahouse.llm.reach import reach
from teahouse.llm.speech import (
    Sound,
    Speaker,
    SpeechRequest,
    Transcribed,
    Transcriber,
    TranscriptionRequest,
    estimate_recording,
)
from teahouse.llm.usage import Counted, Purpose
from teahouse.llm.worst import ANSWER_TOKENS, at_worst

Port = TypeVar("Port")
Request = TypeVar("Request", bound=Struct)
Answer = TypeVar("Answer", bound=Counted)


class MediaErrand(Struct, Generic[Request, Port, Answer], frozen=True, kw_only=True):
    """A call of one of the further ports: `port` has it and `call` makes it."""

    request: Request
    port: type[Port]
    call: Callable[[Port, Request], AsyncGenerator[Answer, None]]
    offer: Offer
    purpose: Purpose
    most: Usage
    model: str = ""

    def to(self, model: str, name: str) -> MediaErrand[Request, Port, Answer]:
        return replace(self, model=model, request=replace(self.request, model=name))

    def ask(self, provider: Provider) -> AsyncGenerator[Answer, None]:
        lacking = NotOffered(self.model.partition("/")[0], self.offer)
        return reach(provider, self.port, lambda one: self.call(one, self.request), lacking)

    def run(
        self, provider: Provider, attempt: Attempt[Answer], number: int
    ) -> AsyncGenerator[Answer, None]:
        return attempt(self, number)

    def worst(self) -> Usage:
        return self.most

    def count(self) -> Count[Answer]:
        return MediaCount(self.most)

    def signed(self, item: Answer) -> Answer:
        return replace(item, model=self.model)


def embedding(request: EmbedRequest) -> MediaErrand[EmbedRequest, Embedder, Embedded]:
    async def call(port: Embedder, asked: EmbedRequest) -> AsyncGenerator[Embedded, None]:
        yield await port.embed(asked)

    return MediaErrand(
        request=request,
        port=Embedder,
        call=call,
        offer="embeddings",
        purpose="embedding",
        most=Usage(input=_at_most(request.inputs)),
    )


def _at_most(inputs: Sequence[Input]) -> int:
    return sum(at_worst(one) if isinstance(one, str) else len(one) for one in inputs)


def speaking(request: SpeechRequest) -> MediaErrand[SpeechRequest, Speaker, Sound]:
    words = at_worst(request.text) + at_worst(request.instructions or "")
    return MediaErrand(
        request=request,
        port=Speaker,
        call=lambda port, asked: port.speak(asked),
        offer="speech",
        purpose="speech",
        most=Usage(input=words, output=ANSWER_TOKENS),
    )


def transcribing(
    request: TranscriptionRequest,
) -> MediaErrand[TranscriptionRequest, Transcriber, Transcribed]:
    async def call(
        port: Transcriber, asked: TranscriptionRequest
    ) -> AsyncGenerator[Transcribed, None]:
        yield await port.transcribe(asked)

    return MediaErrand(
        request=request,
        port=Transcriber,
        call=call,
        offer="transcription",
        purpose="transcription",
        most=Usage(
            input=estimate_recording(request.recording) + at_worst(request.prompt or ""),
            output=ANSWER_TOKENS,
        ),
    )


def painting(request: PictureRequest) -> MediaErrand[PictureRequest, Painter, Painted]:
    async def call(port: Painter, asked: PictureRequest) -> AsyncGenerator[Painted, None]:
        yield await port.paint(asked)

    return MediaErrand(
        request=request,
        port=Painter,
        call=call,
        offer="images",
        purpose="image",
        most=Usage(input=at_worst(request.prompt), output=ANSWER_TOKENS * request.count),
    )
