// Refusals of the contract that depend on the owner of the record, by caller. Refusals by permission alone are in
// role-matrix.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startApi } from '#support/api.ts';
import type { Outcome, Row } from '#support/record-row.ts';
import { type Caller, type RequestInput, World } from '#support/record-world.ts';

interface Refusal {
  error: { code: string; details: Record<string, string | string[]> };
}

const REASONS = ['by', 'permission', 'restriction', 'setting', 'scopes', 'reason'];

/** A success as the row reads it; a refusal as its status and reason. */
function outcomeOf({ read }: Row, { status, body }: { status: number; body: unknown }, input: RequestInput): Outcome {
  if (status < 400) return read ? read(body as never, input) : 'ok';
  const sent = Buffer.isBuffer(body) ? (JSON.parse(body.toString()) as unknown) : body;
  const { details } = (sent as Refusal).error;
  if (details['libraryIds']) return `${status} libraries`;
  const reason = REASONS.map((name) => details[name]).find((value) => value !== undefined);
  return reason === undefined ? String(status) : `${status} ${[reason].flat().join()}`;
}

/** The rows stand with their areas. */
const tests = new URL('../areas/', import.meta.url);
const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('/records.ts'));
const modules = await Promise.all(files.map((name) => import(new URL(name, tests).href) as Promise<{ rows: Row[] }>));
const rows = modules.flatMap((module) => module.rows);

describe('permissions on records', function () {
  this.timeout(120_000);
  let world: World;
  before(async () => {
    world = await World.make(await startApi());
  });

  const folder = new URL('./areas/', import.meta.url);
  const contract = readdirSync(folder)
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
    .replaceAll(/\s+/g, ' ');

  for (const row of rows) {
    const { op, when, says, request, answers } = row;
    it(`${op}${when ? `, ${when}` : ''}: ${says.slice(0, 60)}`, async () => {
      expect(contract, 'the words of the contract').to.include(says);
      const outcomes: Partial<Record<Caller, Outcome>> = {};
      for (const caller of Object.keys(answers) as Caller[]) {
        const input = await request(world, caller);
        outcomes[caller] = outcomeOf(row, await world.request(caller, op, input), input);
      }
      expect(outcomes).to.deep.equal(answers);
    });
  }
});
