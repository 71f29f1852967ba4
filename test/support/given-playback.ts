import { type Api, startApi, type TestClient } from './api.ts';
import type { Person } from './given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from './given-items.ts';

export const HOUR = 3_600_000;

/** Items that play in tests of playback. */
export const client = { builtIn: 'chromium' };

export const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

export const video = {
  stream_index: 0,
  kind: 'video',
  codec: 'h264',
  is_default: true,
  probe: { profile: 'High', width: 1280, height: 720, frameRate: 24 },
};
export const audio = {
  stream_index: 1,
  kind: 'audio',
  codec: 'aac',
  language: 'en',
  is_default: true,
  probe: { channels: 2, sampleRate: 48_000 },
};

/** An API with films, and a member of its own for each test. */
export class GivenPlayback {
  api!: Api;
  library!: GivenLibrary;
  person!: Person;
  me!: TestClient;

  constructor() {
    before(async () => {
      this.api = await startApi();
      await this.api.given.owner();
      this.library = await givenLibrary(this.api.deps.db, 'movies');
    });
    beforeEach(async () => {
      this.person = await this.api.given.member();
      this.me = this.api.as(this.person);
    });
  }

  /** A film of an hour that a browser plays directly, unless the options differ. Returns its id. */
  readonly film = async (file: object = {}, item: object = {}, library = this.library): Promise<string> => {
    const { db } = this.api.deps;
    const id = await givenItem(db, library, { runtime_ms: HOUR, ...item });
    await givenFile(db, library, id, { container: 'mp4', duration_ms: HOUR, streams: [video, audio], ...file });
    return id;
  };

  readonly play = async (id: string, body: object = {}) =>
    this.me.startPlayback({ params: { id }, body: { client, ...body } });

  readonly progress = async (id: string) => (await this.me.getItemProgress({ params: { id } })).body;

  /** The events of a session, in order. */
  readonly events = async (id: string): Promise<string[]> =>
    this.api.deps.db('outbox').whereRaw(`payload ->> 'sessionId' = ?`, [id]).orderBy('seq').pluck('event');
}
