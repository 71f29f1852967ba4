import type { Objects } from '#platform/objects.ts';
import { type StreamPlan, segmentCount } from '../segments/plan.ts';
import type { Rendition, TranscodeSession } from '../streaming.schemas.ts';
import type { SessionRow, WorkerInfo } from './sessions.store.ts';

/** A session as in the API; `managing` adds the worker. */
export async function toTranscodeSession(
  row: SessionRow,
  objects: Objects,
  managing: boolean,
): Promise<TranscodeSession> {
  const { plan } = row;
  const ready = await readySegments(objects, row.id);
  return {
    id: row.id,
    playbackSessionId: row.playback_session_id,
    itemId: row.item_id,
    mediaFileId: row.file_id,
    state: row.state,
    mode: plan.mode,
    container: plan.container,
    durationMs: plan.durationMs,
    segmentCount: segmentCount(plan),
    segmentTargetMs: 2000,
    renditions: renditionsOf(plan).map((one) => ({ ...one, ready: ready.get(one.id) ?? [] })),
    lastWantedSegment: row.wanted_rendition === null ? null : row.wanted_segment,
    restarts: row.restarts,
    speed: row.speed,
    error: row.error,
    createdAt: row.created_at.toISOString(),
    lastAccessAt: row.last_access_at?.toISOString() ?? null,
    ...(managing && row.worker ? { worker: toWorker(row.worker) } : {}),
  };
}

function toWorker({ id, node, encoder, gpu, pid }: WorkerInfo): TranscodeSession['worker'] {
  return { id, node, encoder, gpu: gpu ?? null, pid };
}

function renditionsOf(plan: StreamPlan): Omit<Rendition, 'ready'>[] {
  const track = (one: { language?: string | undefined; title?: string | undefined }) => ({
    language: one.language ?? null,
    title: one.title ?? null,
  });
  return [
    ...plan.video.map(({ id, codec, action, bitrate, width, height }, i) => ({
      ...{ id, kind: 'video' as const, codec, action, bitrate, width, height, channels: null },
      ...{ language: null, title: null, default: i === 0, forced: false },
    })),
    ...plan.audio.map((one) => ({
      ...{ id: one.id, kind: 'audio' as const, codec: one.codec, action: one.action, bitrate: one.bitrate },
      ...{ width: null, height: null, channels: one.channels, ...track(one), default: one.default, forced: false },
    })),
    ...plan.subtitles.map((one) => ({
      ...{ id: one.id, kind: 'subtitle' as const, codec: 'webvtt', action: 'encode' as const, bitrate: null },
      ...{ width: null, height: null, channels: null, ...track(one), default: one.default, forced: one.forced },
    })),
  ];
}

/** Runs of stored segment numbers, by rendition. */
async function readySegments(objects: Objects, id: string): Promise<Map<string, { from: number; to: number }[]>> {
  const numbers = new Map<string, number[]>();
  for await (const { key } of objects.list('foyer-transcode', `${id}/`)) {
    const [, rendition = '', number] = /\/([av]\d+)\/(\d+)\.(?:m4s|ts)$/.exec(key) ?? [];
    if (number !== undefined) numbers.set(rendition, [...(numbers.get(rendition) ?? []), Number(number)]);
  }
  return new Map([...numbers].map(([rendition, list]) => [rendition, runsOf(list)]));
}

export function runsOf(numbers: readonly number[]): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const n of numbers.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && n === last.to + 1) last.to = n;
    else runs.push({ from: n, to: n });
  }
  return runs;
}
