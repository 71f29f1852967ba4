// Events about objects: repetitions increase the count of one Event, with at most ten writes a minute per object.
import { createHash } from 'node:crypto';
import type { KubeObject, ReportedEvent } from './kube.ts';
import type { Log } from './log.ts';
import type { Manifest } from './manifest.ts';
import type { Rest } from './rest.ts';

const A_MINUTE_MS = 60_000;
const MOST_A_MINUTE = 10;
/** A repetition within this time increases the count; later it is a new Event. */
const SERIES_MS = 600_000;
const MESSAGE_MAX = 1024;
const REMEMBERED = 5000;
const COMPONENT = 'foyer-operator';

interface Series {
  name: string;
  path: string;
  count: number;
  lastAt: number;
}

export interface RecorderDeps {
  rest: Rest;
  log: Log;
  fence: () => void;
}

export class EventRecorder {
  readonly #deps: RecorderDeps;
  readonly #series = new Map<string, Series>();
  /** By uid, the times of the writes of the last minute. */
  readonly #spent = new Map<string, number[]>();
  #last: Promise<void> = Promise.resolve();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** Runs in the background; errors do not affect the caller. */
  record(about: KubeObject, event: ReportedEvent): void {
    const now = Date.now();
    const uid = about.metadata.uid ?? `${about.metadata.namespace}/${about.metadata.name}`;
    const series = this.#seriesOf(about, event, now);
    series.count += 1;
    series.lastAt = now;
    if (!this.#allowed(uid, now)) return; // the count is written with the next repetition
    const { count } = series;
    this.#last = this.#last.then(() => this.#write(about, event, { ...series, count }));
  }

  /** Resolves when all recorded Events are written. */
  flushed(): Promise<void> {
    return this.#last;
  }

  #seriesOf(about: KubeObject, { type, reason, message }: ReportedEvent, now: number): Series {
    const key = [about.metadata.uid, type, reason, message].join('\n');
    const before = this.#series.get(key);
    this.#series.delete(key);
    const name = `${about.metadata.name.slice(0, 200)}.${suffix(key, now)}`;
    const path = `/api/v1/namespaces/${encodeURIComponent(about.metadata.namespace ?? 'default')}/events`;
    const series = before && now - before.lastAt < SERIES_MS ? before : { name, path, count: 0, lastAt: now };
    this.#series.set(key, series);
    const [oldest] = this.#series.keys();
    if (this.#series.size > REMEMBERED && oldest !== undefined) this.#series.delete(oldest);
    return series;
  }

  #allowed(uid: string, now: number): boolean {
    const recent = (this.#spent.get(uid) ?? []).filter((at) => now - at < A_MINUTE_MS);
    this.#spent.delete(uid);
    const allowed = recent.length < MOST_A_MINUTE;
    this.#spent.set(uid, allowed ? [...recent, now] : recent);
    const [oldest] = this.#spent.keys();
    if (this.#spent.size > REMEMBERED && oldest !== undefined) this.#spent.delete(oldest);
    return allowed;
  }

  async #write(about: KubeObject, event: ReportedEvent, series: Series): Promise<void> {
    const { rest, fence, log } = this.#deps;
    const time = new Date(series.lastAt).toISOString().replace(/\.\d+Z$/, 'Z');
    try {
      if (series.count > 1 && (await this.#again(series, time))) return;
      await rest.note({ method: 'POST', path: series.path, body: eventOf(about, event, { series, time }) }, fence);
    } catch (error) {
      log.debug({ message: (error as Error).message, reason: event.reason }, 'an event was not written');
    }
  }

  /** False if the Event no longer exists. */
  async #again({ path, name, count }: Series, lastTimestamp: string): Promise<boolean> {
    const contentType = 'application/merge-patch+json';
    const call = { method: 'PATCH' as const, path: `${path}/${name}`, body: { count, lastTimestamp }, contentType };
    try {
      await this.#deps.rest.note(call, this.#deps.fence);
      return true;
    } catch {
      return false;
    }
  }
}

const suffix = (key: string, now: number): string =>
  createHash('sha256').update(`${key}\n${now}`).digest('hex').slice(0, 16);

function eventOf(about: KubeObject, event: ReportedEvent, at: { series: Series; time: string }): Manifest<'Event'> {
  const { apiVersion, kind, metadata } = about;
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: at.series.name, namespace },
    involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, MESSAGE_MAX),
    count: at.series.count,
    firstTimestamp: at.time,
    lastTimestamp: at.time,
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
  };
}
