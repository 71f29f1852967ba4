import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';

export const reasonOf = (answer: { body: unknown }) => errorOf(answer).details['reason'];
export const issuesOf = (answer: { body: unknown }) =>
  (errorOf(answer).details['issues'] ?? []).map(
    ({ path, code }: { path: string[]; code: string }) => `${path.join('/')} ${code}`,
  );
export const textOf = ({ body }: { body: unknown }): string => (body as Buffer).toString();

/** An app, its owner and a member, and repeated operations on themes. */
export async function givenThemes() {
  const api: Api = await startApi();
  const owner: Person = await api.given.owner();
  const admin: TestClient = api.as(owner);
  const member: TestClient = api.as(await api.given.member());

  let made = 0;
  const draft = (more: object = {}) => ({ name: `Theme ${++made}`, schemes: { dark: {} }, ...more });
  const create = async (more: object = {}, by = admin) => {
    const answer = await by.createTheme({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const read = async (id: string, query = {}) => (await admin.getTheme({ params: { id }, query })).body;
  const change = (id: string, body: object, more: object = {}) => admin.updateTheme({ params: { id }, body, ...more });
  const remove = (id: string) => admin.deleteTheme({ params: { id } });
  const choose = (selection: object, more: object = {}, by = admin) =>
    by.setThemeSelection({ body: { selection: { mode: 'system', ...selection }, ...more } });
  const sheet = async (id: string, query = {}, headers = {}) => {
    const answer = await api.anyone.getThemeStylesheet({ params: { id }, query, headers });
    return { ...answer, text: textOf(answer) };
  };
  const changedKeys = async (): Promise<string[]> => {
    const rows = await api.deps.db('outbox').where({ event: 'settings.changed' }).orderBy('id').select('payload');
    return rows.flatMap((row: { payload: { keys: string[] } }) => row.payload.keys);
  };
  return { api, owner, admin, member, draft, create, read, change, remove, choose, sheet, changedKeys };
}
