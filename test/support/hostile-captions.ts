// Writes the captions of a recording whose broadcast is full of texts. Run with a small heap; prints the tracks and their bytes.
import { statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { SegmentCaptions } from '#platform/live/captions.ts';
import type { Objects } from '#platform/objects.ts';
import { captionArguments } from '#workers/live/finish/captions.ts';

const [folder = '', count = '0', size = '0'] = process.argv.slice(2);
const parts = Array.from({ length: Number(count) }, (_, sequence) => ({
  ...{ sequence, epoch: 0, startMs: sequence * 4000, durationMs: 4000, bytes: 1, discontinuity: 0, streamId: 's' },
}));
const held = { now: 0, most: 0 };

function captionsOf(at: number): SegmentCaptions {
  const cues = Array.from({ length: 4 }, (_, n) => ({
    ...{ startMs: n * 1000, endMs: n * 1000 + 900 },
    text: `${at}/${n} `.repeat(Math.ceil(Number(size) / 4 / 8)),
  }));
  return {
    ticks: (at * 4 * 90_000) % 2 ** 33,
    services: [{ id: 'cc1', kind: 'cea608', language: 'eng', hearingImpaired: true, cues }],
  };
}

/** Only what the joining reads. */
const objects = {
  get: async (_bucket: string, key: string) => {
    held.now += 1;
    held.most = Math.max(held.most, held.now);
    const at = Number(/\/(\d+)/.exec(key)?.[1] ?? 0);
    const body = Readable.from([Buffer.from(JSON.stringify(captionsOf(at)))]);
    body.once('close', () => {
      held.now -= 1;
    });
    return body;
  },
} as unknown as Objects;

const { inputs } = await captionArguments({ objects }, { recordingId: 'r', parts, folder });
const files = inputs.filter((word) => word.endsWith('.srt'));
const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
process.stdout.write(JSON.stringify({ files: files.length, bytes, reading: held.most }));
