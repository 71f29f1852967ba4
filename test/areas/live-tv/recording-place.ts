// A guide with its tuner of one slot, and requests over recordings.
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import type { TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { type GuidePlaceForTests, guideOf, newGuidePlace, type Show } from '../../workers/live/support.ts';

const part = (number: string): string => `<episode-num system="xmltv_ns">${number}</episode-num>`;
export const RECORDED_SHOWS: Show[] = [
  { at: -120, title: 'Over' },
  { at: 0, minutes: 90, title: 'On air' },
  { at: 120, title: 'Series', more: `<sub-title>Pilot</sub-title>${part('0.0.')}` },
  { at: 180, title: 'Later' },
  { at: 240, title: 'Strong', more: '<rating><value>FSK 18</value></rating>' },
  { channel: 'two.example', at: 120, title: 'Football' },
  { channel: 'two.example', at: 600, title: 'Series', more: part('0.0.') },
  { channel: 'coded.example', at: 120, title: 'Secret' },
];
const GUIDES = ['one.example', 'two.example', 'coded.example'];
export const GIB = 2 ** 30;

/** Status and reason of a refused request. */
export function refusal(answer: { status: number; body: unknown }): unknown[] {
  const { error } = answer.body as { error: { details: { reason?: string; issues?: { code: string }[] } } };
  return [answer.status, error.details.reason ?? error.details.issues?.[0]?.code];
}

export const capacity = (freeBytes: number): object => ({
  capacity: JSON.stringify({ totalBytes: 1000 * GIB, freeBytes, at: new Date().toISOString() }),
});

/** Channels One, Two and the encrypted Coded on one tuner, and a member who records. */
export class RecordingPlace {
  readonly guide: GuidePlaceForTests;
  readonly person: Person;
  readonly member: TestClient;
  readonly tuner = newId();
  readonly channels: Record<string, string> = {};
  readonly films: GivenLibrary;
  readonly music: GivenLibrary;
  /** The guide source. */
  source = '';

  private constructor(guide: GuidePlaceForTests, given: { person: Person; films: GivenLibrary; music: GivenLibrary }) {
    this.guide = guide;
    this.person = given.person;
    this.films = given.films;
    this.music = given.music;
    this.member = guide.api.as(given.person);
  }

  static async open(shows: readonly Show[] = RECORDED_SHOWS): Promise<RecordingPlace> {
    const guide = await newGuidePlace();
    const { db } = guide.api.deps;
    const [films, music] = [await givenLibrary(db, 'movies'), await givenLibrary(db, 'music')];
    const place = new RecordingPlace(guide, { person: await guide.api.given.member(), films, music });
    await place.#prepare(shows);
    return place;
  }

  async #prepare(shows: readonly Show[]): Promise<void> {
    const { guide, db, tuner } = this;
    await db('live_tuners').insert({
      ...{ id: tuner, library_id: guide.library.id, name: 'Roof', kind: 'hdhomerun', slot_count: 1, state: 'ready' },
    });
    for (const [number, name] of Object.entries({ 1: 'One', 2: 'Two', 3: 'Coded' })) {
      const id = await guide.channel(number, { name, drm: name === 'Coded' });
      this.channels[name] = id;
      await db('live_sources').insert({
        ...{ id: newId(), channel_id: id, tuner_id: tuner, remote_key: name, remote_number: number },
        ...{ remote_name: name, address: '' },
      });
    }
    guide.served.body = guideOf(shows, GUIDES);
    this.source = await guide.source();
    await this.storage({ read_only: false, ...capacity(100 * GIB) });
  }

  get db() {
    return this.guide.api.deps.db;
  }

  /** The guide now has these programmes. */
  async show(shows: readonly Show[]): Promise<void> {
    this.guide.served.body = guideOf(shows, GUIDES);
    await this.guide.refresh(this.source);
  }

  async program(title: string, nth = 0): Promise<string> {
    const { rows } = await this.db.raw(
      'select p.id from guide_programs p join guide_titles t on t.id = p.title where t.text = ? order by p.start_at',
      [title],
    );
    return (rows as { id: string }[])[nth]?.id ?? '';
  }

  record(body: object, client = this.member) {
    return client.createRecording({ body } as never);
  }

  async made(title: string, more: object = {}, client = this.member) {
    const answer = await this.record({ programId: await this.program(title), ...more }, client);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  }

  change(id: string, body: object, client = this.member) {
    return client.updateRecording({ params: { id }, body } as never);
  }

  drop(id: string, query: object = {}, client = this.member) {
    return client.deleteRecording({ params: { id }, query } as never);
  }

  async read(id: string, client = this.member) {
    return (await client.getRecording({ params: { id } })).body;
  }

  async titles(query: object = {}, client = this.member): Promise<string[]> {
    const { body } = await client.listRecordings({ query } as never);
    return body.items.map(({ title }) => title);
  }

  row(id: string) {
    return this.db('recordings').where({ id }).first();
  }

  async set(id: string, row: object): Promise<void> {
    await this.db('recordings').where({ id }).update(row);
  }

  async storage(row: object): Promise<void> {
    await this.db('storages').where({ id: this.guide.api.given.storageId }).update(row);
  }

  async clear(): Promise<void> {
    await this.db('recordings').delete();
    await this.db('notifications').delete();
  }
}
