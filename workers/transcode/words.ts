import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BurnIn, type StreamPlan, textTrackKey } from '#areas/streaming/public.ts';
import { requireSpace } from '#platform/disk.ts';
import type { Objects } from '#platform/objects.ts';
import { matroskaFonts } from '#workers/subtitles/matroska-texts.ts';
import { BUCKET, type TextTrack, takeOutTexts } from '#workers/subtitles/take-out.ts';
import type { Words } from './filters.ts';

interface Deps {
  objects: Objects;
  scratchDir: string;
  /** Absolute path of a file inside a storage; undefined when it is away. */
  pathOf(storageId: string, path: string): Promise<string | undefined>;
}

/** The texts of a session: those that are sent in playlists, and the one that is burned in. */
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

  /** Takes out what nobody took out of this film yet, once. */
  take(film: string): Promise<number[]> {
    const source = { ...this.#plan.source, file: film };
    const { objects } = this.#deps;
    this.#taken ??= takeOutTexts(source, tracksInside(this.#plan), { objects, signal: this.#stopping.signal });
    return this.#taken;
  }

  /** What is burned into a variant of the picture, from a file beside the film or from inside it. */
  async burned(variant: string | undefined, film: string): Promise<Words | undefined> {
    const { source, video } = this.#plan;
    const burn = video.find((one) => one.id === variant)?.burnIn;
    if (burn?.kind !== 'text') return undefined;
    if (!burn.path) return this.#inside(burn, film);
    const file = await this.#deps.pathOf(source.storageId, burn.path);
    return file === undefined ? undefined : { file };
  }

  /** Its text alone: ffmpeg's filter would read all of the film for it, and so it does where the text cannot be taken out. */
  #inside(burn: BurnIn, film: string): Promise<Words> {
    this.#words ??= this.#place(burn, film).catch(() => ({ file: film, number: burn.number }));
    return this.#words;
  }

  async #place(burn: BurnIn, film: string): Promise<Words> {
    await this.take(film);
    const { objects, scratchDir } = this.#deps;
    const text = await objects.get(BUCKET, textTrackKey(this.#plan.source, burn.streamIndex));
    await requireSpace(scratchDir);
    await mkdir(scratchDir, { recursive: true });
    this.#folder = await mkdtemp(join(scratchDir, 'words-'));
    const file = join(this.#folder, 'words.txt');
    await writeFile(file, text);
    return { file, ...(await this.#fonts(film)) };
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

function tracksInside({ subtitles, video }: StreamPlan): TextTrack[] {
  const sent = subtitles.flatMap(({ externalPath, streamIndex = -1, format }) =>
    externalPath || streamIndex < 0 ? [] : [{ index: streamIndex, format }],
  );
  const burned = video.flatMap(({ burnIn }) =>
    burnIn?.kind === 'text' && !burnIn.path ? [{ index: burnIn.streamIndex, format: 'ass' }] : [],
  );
  return [...new Map([...burned, ...sent].map((track) => [track.index, track])).values()];
}
