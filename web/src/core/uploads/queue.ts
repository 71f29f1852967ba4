// Files on their way to the server: announced in one call for many, then sent in chunks, some at once.
import type { FoyerClient, Upload, UploadAnswer } from '../../../../api/client/index.ts';
import { isPassing, type Problem, problemOf } from '../api/errors.ts';
import type { Hasher } from './hasher.ts';

/** One file; a change makes a new object. */
export interface Sending {
  id: string;
  file: File;
  libraryId: string;
  state: 'waiting' | 'sending' | 'sent' | 'finished' | 'duplicate' | 'refused' | 'failed' | 'cancelled';
  /** Share of the bytes that the server has, 0 to 1. */
  share: number;
  /** Why it was refused or failed, as the server says it. */
  reason?: string;
  problem?: Problem;
  uploadId?: string;
  itemId?: string;
}

export interface QueueHome {
  api: FoyerClient;
  hasher: Hasher;
  newId: () => string;
  sleep: (ms: number) => Promise<void>;
  changed: (all: readonly Sending[]) => void;
}

const AT_ONCE = 4;
const CHUNKS_AT_ONCE = 3;
const ANNOUNCED_AT_ONCE = 200;
/** Larger files are announced without the hash of the whole, which would have to lie in memory. */
const MOST_HASHED = 64 << 20;
const WAITS_S = [1, 2, 5, 10, 20, 30];
const LOOK_MS = 1500;
const OPEN: readonly Sending['state'][] = ['waiting', 'sending'];

export class UploadQueue {
  readonly #home: QueueHome;
  #all: readonly Sending[] = [];
  #isRunning = false;

  constructor(home: QueueHome) {
    this.#home = home;
  }

  /** Sends these files too. */
  add(files: readonly File[], libraryId: string): void {
    const more = files.map(
      (file): Sending => ({ id: this.#home.newId(), file, libraryId, state: 'waiting', share: 0 }),
    );
    this.#set([...this.#all, ...more]);
    void this.#run();
  }

  /** Takes a file back; what the server has of it is deleted. */
  async cancel(id: string): Promise<void> {
    const one = this.#find(id);
    if (!one || !OPEN.includes(one.state)) return;
    this.#patch(id, { state: 'cancelled' });
    if (one.uploadId) await this.#home.api.cancelUpload({ params: { id: one.uploadId } }).catch(() => undefined);
  }

  /** Takes the files that have ended out of the list. */
  clear(): void {
    this.#set(this.#all.filter(({ state }) => [...OPEN, 'sent'].includes(state)));
  }

  #find(id: string): Sending | undefined {
    return this.#all.find((one) => one.id === id);
  }

  #set(all: readonly Sending[]): void {
    this.#all = all;
    this.#home.changed(all);
  }

  #patch(id: string, change: Partial<Sending>): void {
    this.#set(this.#all.map((one) => (one.id === id ? { ...one, ...change } : one)));
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (;;) {
        const batch = this.#all.filter(({ state }) => state === 'waiting').slice(0, ANNOUNCED_AT_ONCE);
        const [first] = batch;
        if (!first) break;
        await this.#announce(batch.filter(({ libraryId }) => libraryId === first.libraryId));
      }
    } finally {
      this.#isRunning = false;
    }
    void this.#follow();
  }

  async #announce(batch: readonly Sending[]): Promise<void> {
    const files = await Promise.all(batch.map(({ file }) => this.#described(file)));
    const libraryId = batch[0]?.libraryId ?? '';
    let answers: readonly UploadAnswer[];
    try {
      answers = (await this.#insist(() => this.#home.api.createUploads({ body: { libraryId, files } }))).items;
    } catch (error) {
      for (const { id } of batch) this.#patch(id, { state: 'failed', problem: problemOf(error) });
      return;
    }
    const planned = answers.flatMap(({ index, outcome, upload, itemId, reason }) => {
      const one = batch[index];
      if (!one) return [];
      if (outcome === 'duplicate') this.#patch(one.id, { state: 'duplicate', share: 1, ...(itemId && { itemId }) });
      else if (!upload) this.#patch(one.id, { state: 'refused', ...(reason && { reason }) });
      return upload ? [{ one, upload }] : [];
    });
    await inLanes(planned, AT_ONCE, ({ one, upload }) => this.#send(one, upload));
  }

  async #described(
    file: File,
  ): Promise<{ name: string; sizeBytes: number; sha256?: string; modifiedAt: string; clientFileId: string }> {
    const sha256 = file.size <= MOST_HASHED ? await this.#home.hasher.of(file).catch(() => undefined) : undefined;
    return {
      name: file.name,
      sizeBytes: file.size,
      modifiedAt: new Date(file.lastModified).toISOString(),
      clientFileId: `${file.name.slice(0, 60)} ${file.size} ${file.lastModified}`,
      ...(sha256 && { sha256 }),
    };
  }

  async #send({ id, file }: Sending, upload: Upload): Promise<void> {
    if (this.#find(id)?.state !== 'waiting') return;
    this.#patch(id, { state: 'sending', uploadId: upload.id, share: upload.receivedBytes / file.size });
    try {
      await inLanes(missingOf(upload), CHUNKS_AT_ONCE, async (index) => {
        if (this.#find(id)?.state !== 'sending') return;
        const from = index * upload.chunkBytes;
        const piece = file.slice(from, Math.min(file.size, from + upload.chunkBytes), 'application/octet-stream');
        const hash = await this.#home.hasher.of(piece);
        const now = await this.#insist(() =>
          this.#home.api.putUploadChunk({
            params: { id: upload.id, index: String(index) },
            body: piece as never,
            headers: { 'X-Chunk-Sha256': hash },
          }),
        );
        const { share = 0 } = this.#find(id) ?? {};
        this.#patch(id, { share: Math.max(share, now.receivedBytes / file.size) });
      });
      if (this.#find(id)?.state === 'sending') this.#patch(id, { state: 'sent', share: 1 });
    } catch (error) {
      if (this.#find(id)?.state === 'sending') this.#patch(id, { state: 'failed', problem: problemOf(error) });
    }
  }

  /** Repeats a call while its failure passes by itself, or the server requires a pause. */
  async #insist<T>(call: () => Promise<T>): Promise<T> {
    for (let time = 0; ; time += 1) {
      try {
        return await call();
      } catch (error) {
        const problem = problemOf(error);
        const mayPass = isPassing(problem) || problem.code === 'RATE_LIMITED';
        if (!mayPass || time >= WAITS_S.length * 4) throw error;
        await this.#home.sleep(1000 * (problem.retryAfterSec ?? WAITS_S[Math.min(time, WAITS_S.length - 1)] ?? 1));
      }
    }
  }

  /** Looks at the files that the server checks, until each has ended. */
  async #follow(): Promise<void> {
    for (;;) {
      const sent = this.#all.filter(({ state }) => state === 'sent').slice(0, ANNOUNCED_AT_ONCE);
      if (sent.length === 0 || this.#isRunning) return;
      await this.#home.sleep(LOOK_MS);
      const ids = sent.flatMap(({ uploadId }) => uploadId ?? []).join(',');
      const { items } = await this.#home.api.listUploads({ query: { ids, limit: 200 } }).catch(() => ({ items: [] }));
      for (const { id, uploadId } of sent) {
        const upload = items.find((one) => one.id === uploadId);
        const ended = upload && ENDS[upload.state];
        if (ended)
          this.#patch(id, {
            state: ended,
            ...(upload.errorReason && { reason: upload.errorReason }),
            ...(upload.itemId && { itemId: upload.itemId }),
          });
      }
    }
  }
}

const ENDS: Readonly<Partial<Record<Upload['state'], Sending['state']>>> = {
  ...{ finished: 'finished', duplicate: 'duplicate', failed: 'failed', cancelled: 'cancelled', expired: 'failed' },
};

/** Indexes of the chunks that the server does not have. */
function missingOf({ chunkCount, received }: Upload): number[] {
  const has = (index: number): boolean => received.some(([first = 0, last = 0]) => index >= first && index <= last);
  return Array.from({ length: chunkCount }, (_, index) => index).filter((index) => !has(index));
}

/** Works on all of them, so many at once; the first failure is thrown after those under way have ended. */
async function inLanes<T>(all: readonly T[], lanes: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
