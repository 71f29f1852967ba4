import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type BurnIn, type StreamPlan, textTrackKey } from '#areas/streaming/public.ts';
import { DiskFull, requireSpace } from '#platform/disk.ts';
import type { Objects } from '#platform/objects.ts';
import { timedSubstation } from '#platform/subtitles/substation.ts';
import { matroskaFonts } from '#workers/subtitles/matroska-texts.ts';
import { substationFile, substationText } from '#workers/subtitles/substation.ts';
import { BUCKET, type TextTrack, takeOutTexts, textsOf } from '#workers/subtitles/take-out.ts';
import type { Words } from './filters.ts';

interface Deps {
  objects: Objects;
  scratchDir: string;
  /** Absolute path of the film, or of the file at `path` next to it; undefined while it cannot be read. */
  pathOf(path?: string): Promise<string | undefined>;
}

/** The text to burn in cannot be read, on this or any other worker. */
export class WordsUnreadable extends Error {}

function unreadable(error: unknown): never {
  throw error instanceof DiskFull ? error : new WordsUnreadable((error as Error).message, { cause: error });
}

/** The texts of a session: those sent in playlists, and the burned-in one. */
export class SessionTexts {
  readonly #plan: StreamPlan;
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  #taken: Promise<number[]> | undefined;
  #words: Promise<Words> | undefined;
  #folder: string | undefined;

  constructor(plan: StreamPlan, deps: Deps) {
    this.#plan = plan;
    this.#deps = deps;
  }

  /** Extracts texts of this film that are not stored yet, once. */
  take(film: string): Promise<number[]> {
    const source = { ...this.#plan.source, file: film };
    const { objects } = this.#deps;
    this.#taken ??= takeOutTexts(source, tracksInside(this.#plan), { objects, signal: this.#stopping.signal });
    return this.#taken;
  }

  /** The text to burn into a variant of the video, from a file next to the film or from inside it. */
  async burned(variant: string | undefined, film: string): Promise<Words | undefined> {
    const { video } = this.#plan;
    const burn = video.find((one) => one.id === variant)?.burnIn;
    if (burn?.kind !== 'text') return undefined;
    if (!burn.path) return this.#inside(burn, film);
    const file = await this.#deps.pathOf(burn.path);
    if (file === undefined) return undefined;
    this.#words ??= this.#scratch().then(async (folder) => ({
      file: await inTime(await substationFile(file, folder, burn.language), burn),
    }));
    return this.#words.catch(unreadable);
  }

  #inside(burn: BurnIn, film: string): Promise<Words> {
    this.#words ??= this.#place(burn, film);
    return this.#words.catch(unreadable);
  }

  async #place(burn: BurnIn, film: string): Promise<Words> {
    const text = await this.#textOf(burn, film);
    const file = await inTime(await substationText(text.toString(), await this.#scratch()), burn);
    return { file, ...(await this.#fonts(film)) };
  }

  /** The stored text; extracted for this session if the store does not have it. */
  async #textOf(burn: BurnIn, film: string): Promise<Buffer> {
    if (burn.keptKey) return wholeOf(await this.#deps.objects.get(BUCKET, burn.keptKey));
    const source = { ...this.#plan.source, file: film };
    const stored = this.take(film).then(() =>
      this.#deps.objects.get(BUCKET, textTrackKey(this.#plan.source, burn.streamIndex)),
    );
    const text = await stored.catch(() => undefined);
    if (text) return wholeOf(text);
    const own = await textsOf(source, [{ index: burn.streamIndex, format: 'ass' }], this.#stopping.signal);
    return own.get(burn.streamIndex) ?? Buffer.alloc(0);
  }

  async #scratch(): Promise<string> {
    const { scratchDir } = this.#deps;
    await requireSpace(scratchDir);
    await mkdir(scratchDir, { recursive: true });
    this.#folder ??= await mkdtemp(join(scratchDir, 'words-'));
    return this.#folder;
  }

  async #fonts(film: string): Promise<{ fonts?: string }> {
    if (!['matroska', 'webm'].includes(this.#plan.source.container)) return {};
    const fonts = join(this.#folder ?? '', 'fonts');
    await mkdir(fonts);
    for await (const { place, bytes } of matroskaFonts(film, this.#stopping.signal)) {
      await writeFile(join(fonts, String(place)), bytes);
    }
    return { fonts };
  }

  end(): void {
    this.#stopping.abort();
    const gone = Promise.allSettled([this.#taken, this.#words]);
    void gone.then(async () => {
      if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
    });
  }
}

async function wholeOf(stream: Readable): Promise<Buffer> {
  return Buffer.concat((await stream.toArray()) as Buffer[]);
}

/** Writes the times of the correction into a text that is to be drawn. */
async function inTime(file: string, { timing }: BurnIn): Promise<string> {
  if (timing) await writeFile(file, timedSubstation(await readFile(file, 'utf8'), timing));
  return file;
}

function tracksInside({ subtitles, video }: StreamPlan): TextTrack[] {
  const sent = subtitles.flatMap(({ externalPath, streamIndex = -1, format }) =>
    externalPath || streamIndex < 0 ? [] : [{ index: streamIndex, format }],
  );
  const burned = video.flatMap(({ burnIn }) =>
    burnIn?.kind === 'text' && !burnIn.path && !burnIn.keptKey ? [{ index: burnIn.streamIndex, format: 'ass' }] : [],
  );
  return [...new Map([...burned, ...sent].map((track) => [track.index, track])).values()];
}
