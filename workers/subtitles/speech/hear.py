"""Hears speech with a Whisper model for the speech worker, which is its parent.

Arguments: folder of the model, device (cuda or cpu), compute type, threads.
Standard input: a line of JSON, then `bytes` bytes of 16 kHz mono s16le, again and again. Standard output: one line of
JSON for each. Without the network and without credentials. It ends with its parent.
"""

import json
import os
import sys


RATE = 16000


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


# Errors of the device, not of the model or the sound: the CPU may go on.
DEVICE_ERRORS = ("out of memory", "cuda", "cublas", "cudnn")


def fault_of(error):
    text = str(error)
    reason = "memory" if any(word in text.lower() for word in DEVICE_ERRORS) else "model"
    return {"error": {"reason": reason, "message": text[:300]}}


def parts_apart(whisper, ctranslate2, numpy):
    """A model that encodes and aligns the parts of a batch one after the other. On a CPU only the text is cheaper for two at
    once, and the attention of one part takes 70 MB."""

    class PartsApart(whisper):
        def encode(self, features):
            if features.ndim == 2:
                return super().encode(features)
            parts = [numpy.array(whisper.encode(self, part)) for part in features]
            return ctranslate2.StorageView.from_array(numpy.concatenate(parts))

        def find_alignment(self, tokenizer, text_tokens, encoder_output, num_frames, **more):
            if len(text_tokens) < 2:
                return super().find_alignment(tokenizer, text_tokens, encoder_output, num_frames, **more)
            found, parts = [], numpy.array(encoder_output)
            for number, tokens in enumerate(text_tokens):
                one = ctranslate2.StorageView.from_array(parts[number : number + 1])
                found += super().find_alignment(tokenizer, [tokens], one, [num_frames[number]], **more)
            return found

    return PartsApart


def load(folder, device, compute_type, threads):
    try:
        import ctranslate2
        import numpy
        from faster_whisper import BatchedInferencePipeline, WhisperModel
    except Exception as error:  # an incomplete installation fails in many ways
        say({"error": {"reason": "no-module", "message": str(error)[:300]}})
        sys.exit(1)
    if device == "cuda" and ctranslate2.get_cuda_device_count() == 0:
        say({"error": {"reason": "no-gpu", "message": "no CUDA device"}})
        sys.exit(1)
    kind = WhisperModel if device == "cuda" else parts_apart(WhisperModel, ctranslate2, numpy)
    try:
        model = kind(folder, device=device, compute_type=compute_type, cpu_threads=threads, local_files_only=True)
    except Exception as error:
        say(fault_of(error))
        sys.exit(1)
    say({"loaded": {"languages": list(model.supported_languages)}})
    return model, BatchedInferencePipeline, numpy


def segment_of(segment, offset):
    return {
        "text": segment.text,
        "compression": segment.compression_ratio,
        "noSpeech": segment.no_speech_prob,
        "words": [[offset + word.start, offset + word.end, word.word] for word in segment.words or []],
    }


# Text that repeats itself (a litany reaches 2.4), or that the model doubts: heard alone, a part is tried at higher temperatures too.
MOST_COMPRESSION = 2.8
LEAST_LOGPROB = -1.0


def is_doubtful(segment):
    return segment.compression_ratio > MOST_COMPRESSION or segment.avg_logprob < LEAST_LOGPROB


def number_of(segment, parts):
    """The part of a segment, whose times are in steps of 10 and 20 ms, so that the first may begin a little early."""
    return max(sum(part["start"] - 0.05 <= segment.start for part in parts) - 1, 0)


def hear(model, batched, sound, order):
    """The parts are heard at once, which takes a fifth less CPU than one after the other."""
    options = {
        "language": order["language"],
        "task": order["task"],
        "beam_size": 5,
        "word_timestamps": True,
        "condition_on_previous_text": False,
    }
    parts = [{"start": start, "end": end} for start, end in order["parts"]]
    found, info = batched(model).transcribe(
        sound, batch_size=len(parts), vad_filter=False, clip_timestamps=parts, **options
    )
    found, segments = list(found), []
    for number, part in enumerate(parts):
        own = [one for one in found if number_of(one, parts) == number]
        if own and not any(is_doubtful(one) for one in own):
            segments += [segment_of(one, 0) for one in own]
            continue
        again, _ = model.transcribe(sound[int(part["start"] * RATE) : int(part["end"] * RATE)], **options)
        segments += [segment_of(one, part["start"]) for one in again]
    return {"segments": segments, "language": info.language}


def detect(model, sound):
    if not model.model.is_multilingual:
        return {"languages": [["en", 1.0]]}
    _, _, probabilities = model.detect_language(sound)
    return {"languages": sorted(probabilities, key=lambda one: -one[1])[:5]}


def answer(model, batched, sound, order):
    try:
        if order["op"] == "detect":
            return detect(model, sound)
        return hear(model, batched, sound, order)
    except Exception as error:
        return fault_of(error)


def main():
    folder, device, compute_type, threads = sys.argv[1:5]
    model, batched, numpy = load(folder, device, compute_type, int(threads))
    pipe = os.fdopen(0, "rb", buffering=1 << 20)
    while line := pipe.readline():
        order = json.loads(line)
        data = pipe.read(order["bytes"])
        if len(data) < order["bytes"]:
            return
        sound = numpy.frombuffer(data, numpy.int16).astype(numpy.float32) / 32768
        say(answer(model, batched, sound, order))


main()
