// Requests over rules, and the job that plans.
import { expect } from 'chai';
import type { TestClient } from '#support/api.ts';
import { scheduleRecordings } from '#workers/live/schedule/schedule.ts';
import { minute, type Show } from '../../workers/live/support.ts';
import type { RecordingPlace } from './recording-place.ts';

/** `more` of an episode by its numbers, each from 1. */
export const episode = (season: number, number: number, more = ''): string =>
  `<episode-num system="xmltv_ns">${season - 1}.${number - 1}.</episode-num>${more}`;
export const REPEAT = '<previously-shown/>';

export class RuleRequests {
  readonly place: RecordingPlace;
  constructor(place: RecordingPlace) {
    this.place = place;
  }

  create(body: object, client: TestClient = this.place.member) {
    return client.createRecordingRule({ body } as never);
  }

  async made(body: object, client?: TestClient) {
    const answer = await this.create(body, client);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  }

  change(id: string, body: object, client: TestClient = this.place.member) {
    return client.updateRecordingRule({ params: { id }, body } as never);
  }

  async changed(id: string, body: object, client?: TestClient) {
    const answer = await this.change(id, body, client);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }

  async read(id: string, client: TestClient = this.place.member) {
    return (await client.getRecordingRule({ params: { id } } as never)).body;
  }

  drop(id: string, client: TestClient = this.place.member) {
    return client.deleteRecordingRule({ params: { id } } as never);
  }

  async names(client: TestClient = this.place.member, query: object = {}): Promise<string[]> {
    const { body } = await client.listRecordingRules({ query } as never);
    return body.items.map(({ name }) => name);
  }

  /** The job as a worker runs it. */
  async plan(): Promise<void> {
    await scheduleRecordings({}, this.place.guide.work());
  }

  async show(shows: readonly Show[]): Promise<void> {
    await this.place.show(shows);
    await this.plan();
  }

  /** Planned recordings: channel, minutes after the hour of the test, title and state. */
  async planned(): Promise<[string, number, string, string][]> {
    const rows: { channel_name: string; start_at: Date; title: string; state: string }[] = await this.place
      .db('recordings')
      .whereIn('state', ['scheduled', 'conflict', 'recording'])
      .orderBy('start_at')
      .orderBy('channel_name')
      .select('*');
    return rows.map((row) => [
      row.channel_name,
      (row.start_at.getTime() - minute(0).getTime()) / 60_000,
      row.title,
      row.state,
    ]);
  }

  /** Titles or ids of programmes that a rule leaves out, with the reason. */
  async leftOut(skipped: readonly { programId: string; reason: string }[]): Promise<string[]> {
    const texts: string[] = [];
    for (const { programId, reason } of skipped) {
      const { rows } = await this.place.db.raw(
        `select t.text || coalesce(' ' || p.episode_number, '') as text, p.start_at from guide_programs p
           join guide_titles t on t.id = p.title where p.id = ?`,
        [programId],
      );
      const [row] = rows as { text: string; start_at: Date }[];
      texts.push(`${row?.text} at ${((row?.start_at.getTime() ?? 0) - minute(0).getTime()) / 60_000}: ${reason}`);
    }
    return texts.sort();
  }

  async clear(): Promise<void> {
    await this.place.clear();
    await this.place.db('recording_rules').delete();
  }
}
