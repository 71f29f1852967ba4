import { randomUUID } from 'node:crypto';
import { Absent, type Listed, type Space, StorageFault, type StorageReader } from '../readers/reader.ts';
import type { CheckStep, StorageCheck, StorageReason, StorageState } from '../storages.schemas.ts';
import { type Expected, identityFault } from './identity.ts';

const LIMIT_MS = 10_000;
const SLOW_MS = 2000;
/** Entries of the root that are looked at. */
const MOST_ENTRIES = 1000;

type Step = StorageCheck['steps'][number];

/** Result of a check, before it is described. */
export interface Checked {
  ok: boolean;
  state: StorageState;
  reason?: StorageReason;
  message?: string;
  steps: Step[];
  space?: Space;
  entries?: number;
  latencyMs?: number;
}

export interface Checking {
  readOnly: boolean;
  /** Absent for a place that is not saved. */
  expected?: Expected | undefined;
  /** Makes and deletes a file of one byte. */
  write: boolean;
}

/** A step that failed, which ends the check. */
class Failed extends Error {
  readonly state: StorageState;
  readonly reason: StorageReason;
  constructor(state: StorageState, reason: StorageReason, message: string) {
    super(message);
    this.state = state;
    this.reason = reason;
  }
}

/** Checks a place step by step and changes nothing. Steps after the first that fails are not taken. */
export async function checkPlace(open: () => StorageReader, checking: Checking): Promise<Checked> {
  const run = new Run();
  const timer = Promise.withResolvers<'late'>();
  const late = setTimeout(() => timer.resolve('late'), LIMIT_MS);
  try {
    const ended = await Promise.race([run.all(open, checking), timer.promise]);
    return ended === 'late'
      ? run.fail(new Failed('unavailable', 'timeout', 'it does not answer in time'))
      : run.result();
  } catch (error) {
    if (error instanceof Failed) return run.fail(error);
    throw error;
  } finally {
    clearTimeout(late);
  }
}

class Run {
  readonly #steps: Step[] = [];
  #space: Space | undefined;
  #entries: number | undefined;
  #latencyMs: number | undefined;
  #degraded: { reason: StorageReason; message: string } | undefined;
  #over = false;

  async all(open: () => StorageReader, { readOnly, expected, write }: Checking): Promise<void> {
    const reader = await this.#step('resolve', async () => open());
    const began = performance.now();
    const { entries } = await this.#step('connect', () => reader.list('', { most: MOST_ENTRIES }));
    this.#latencyMs = Math.round(performance.now() - began);
    this.#entries = entries.length;
    this.#note('authenticate');
    if (this.#latencyMs > SLOW_MS) this.#degraded = { reason: 'slow', message: 'it answers slowly' };
    if (expected) await this.#identity(reader, expected, entries);
    this.#note('list');
    await this.#step('read', () => readOne(reader, entries));
    if (write) await this.#step('write', () => writeOne(reader));
    else if (!readOnly) await this.#writable(reader);
    this.#space = await this.#step('space', () => reader.space());
  }

  result(): Checked {
    return {
      ...{ ok: true, state: this.#degraded ? 'degraded' : 'available', ...this.#degraded, steps: [...this.#steps] },
      ...(this.#space && { space: this.#space }),
      ...(this.#entries !== undefined && { entries: this.#entries }),
      ...(this.#latencyMs !== undefined && { latencyMs: this.#latencyMs }),
    };
  }

  fail({ state, reason, message }: Failed): Checked {
    this.#over = true;
    return { ...this.result(), ok: false, state, reason, message };
  }

  async #identity(reader: StorageReader, expected: Expected, entries: readonly Listed[]): Promise<void> {
    await this.#step('identity', async () => {
      const reason = await identityFault(reader, expected, entries);
      if (reason) throw new Failed('suspect', reason, 'it is not proved to be the same storage');
    });
  }

  /** A storage that has become read-only still serves what it holds. */
  async #writable(reader: StorageReader): Promise<void> {
    try {
      await reader.writable?.();
    } catch (error) {
      if (!(error instanceof StorageFault)) throw error;
      if (error.reason === 'timeout') throw new Failed('unavailable', 'timeout', error.message);
      this.#degraded = { reason: 'read-only-now', message: 'nothing can be written to it now' };
    }
  }

  #note(name: CheckStep): void {
    this.#steps.push({ name, ok: true, ms: 0 });
  }

  async #step<T>(name: CheckStep, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const value = await work();
      if (!this.#over) this.#steps.push({ name, ok: true, ms: Math.round(performance.now() - began) });
      return value;
    } catch (error) {
      const failed = failedBy(error);
      if (!failed) throw error;
      const at = stepOf(name, error);
      if (at === 'authenticate' && name === 'connect') this.#note('connect');
      const { reason, message } = failed;
      const ms = Math.round(performance.now() - began);
      if (!this.#over) this.#steps.push({ name: at, ok: false, ms, reason, detail: message });
      throw failed;
    }
  }
}

/** A fault of the connection shows in the first call, and belongs to an earlier or a later step. */
function stepOf(name: CheckStep, error: unknown): CheckStep {
  if (!(error instanceof StorageFault) || name !== 'connect') return name;
  return error.stage ?? 'list';
}

function failedBy(error: unknown): Failed | undefined {
  if (error instanceof Failed) return error;
  if (error instanceof StorageFault) return new Failed('unavailable', error.reason, error.message);
  if (error instanceof Absent) return new Failed('unavailable', 'root-missing', 'the folder does not exist');
  return undefined;
}

/** The first byte of a file in the root, if there is one. */
async function readOne(reader: StorageReader, entries: readonly Listed[]): Promise<void> {
  const file = entries.find(({ kind, size, readable }) => kind === 'file' && size > 0 && readable);
  if (!file) return;
  await reader.read(file.name, { start: 0, length: 1 }).catch((error: unknown) => {
    if (!(error instanceof Absent)) throw error; // it was deleted in between
  });
}

async function writeOne(reader: StorageReader): Promise<void> {
  const name = `.foyer-write-test-${randomUUID()}`;
  await reader.write(name, Buffer.from('1'));
  await reader.remove(name);
}

/** The check as the API answers it. */
export function describeCheck(
  { space, latencyMs: _latency, ...checked }: Checked,
  more: Pick<StorageCheck, 'storageId' | 'pods' | 'capabilities'>,
): StorageCheck {
  const at = new Date().toISOString();
  return { ...more, ...checked, ...(space && { capacity: { ...space, at } }), at };
}
