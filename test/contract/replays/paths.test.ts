import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { ABSENT } from '#support/answers.ts';
import { type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import { givenFile, givenItem } from '#support/given-items.ts';
import { errorOf, PASSWORD, somebody } from '#support/signing-in.ts';

const CODE = '7gdmdrmw2b1wsvpb7r5pdhsq2k';
const CANARY = 'canary outside the media';
describe('replay of published vulnerabilities: paths and files', () => {
  let api: Api;
  let owner: TestClient;
  let headers: Record<string, string>;
  let rootId: string;
  before(async () => {
    api = await startApi();
    const person = await api.given.owner();
    headers = person.headers;
    owner = api.as(person);
    rootId = api.given.storageId;
    for (const name of ['films', 'films-private']) mkdirSync(join(api.mediaRoot, name));
    mkdirSync(`${api.mediaRoot}-private`);
    writeFileSync(join(api.mediaRoot, 'films', 'film.mkv'), 'film');
    for (const folder of [join(api.mediaRoot, '..'), `${api.mediaRoot}-private`])
      writeFileSync(join(folder, 'secret.txt'), CANARY);
  });

  /** As it is written: fetch() tidies paths. */
  const raw = (path: string, more: Record<string, string> = headers): Promise<{ status: number; text: string }> =>
    new Promise((done, fail) => {
      const { hostname: host, port } = new URL(api.url);
      const sent = request({ host, port, path, headers: more }, (answer) => {
        let text = '';
        answer.setEncoding('latin1').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => done({ status: answer.statusCode ?? 0, text }));
      });
      sent.on('error', fail).end();
    });

  /** A film of the library whose file is `path` of the storage. */
  const filmAt = async (path: string): Promise<string> => {
    const { db } = api.deps;
    const { id } = (await owner.createLibrary({ body: { name: `L ${Math.random()}`, type: 'movies' } })).body;
    const [folder] = await db('library_folders')
      .insert({ id: crypto.randomUUID(), library_id: id, storage_id: rootId, path: '' })
      .returning<{ id: string }[]>('id');
    const library = { id, folderId: folder?.id ?? '', type: 'movies' };
    const itemId = await givenItem(db, library);
    const fileId = await givenFile(db, library, itemId);
    await db('media_files').where({ id: fileId }).update({ path });
    return fileId;
  };

  it('Jellyfin CVE-2021-21402, Tautulli CVE-2025-58761: no dots, backslashes or prefixes in a name of an address reach a file', async () => {
    const fileId = await filmAt('films/film.mkv');
    const climbs = ['..%5C', '..%2f', '%2e%2e%2f', '..%252f', '....//', '..%c0%af', '%2e%2e%5c', 'main%2f..%2f'];
    const names = climbs.flatMap((up) => [
      `${up.repeat(3)}secret.txt`,
      `${up.repeat(8)}etc%2fpasswd`,
      `${up}secret.txt%00.m4s`,
    ]);
    for (const name of [...names, '%2fetc%2fpasswd', 'file:%2f%2f%2fetc%2fpasswd', '..\\..\\secret.txt']) {
      for (const path of [
        `/stream/${ABSENT}/v0/segments/${name}`,
        `/stream/${ABSENT}/${name}/index.m3u8`,
        `/files/${fileId}/trickplay/${name}`,
        `/files/${name}/stream`,
        `/branding/${name}/dark`,
        `/branding/main/${name}`,
      ]) {
        const got = await raw(`/api/v1${path}`);
        expect(got.status, path).to.be.within(400, 499);
        expect(got.text.includes(CANARY) || got.text.includes('root:'), path).to.equal(false);
      }
    }
    expect((await raw(`/api/v1/files/${fileId}/stream`)).text, 'the file itself').to.equal('film');
  });

  it('audiobookshelf CVE-2026-42885: a folder whose name begins like the root is not below it', async () => {
    symlinkSync(`${api.mediaRoot}-private`, join(api.mediaRoot, 'films', 'linked'));
    for (const path of [
      '../media-private',
      'films/../../media-private',
      'films/linked',
      '/media-private',
      '..',
      'films/../..',
    ]) {
      const folders = [{ storageId: rootId, path }];
      const answer = await owner.createLibrary({ body: { name: `P ${path}`, type: 'movies', folders } });
      expect(answer.status, path).to.equal(400);
    }
    for (const path of ['../media-private/secret.txt', 'films/linked/secret.txt', '../secret.txt']) {
      const got = await raw(`/api/v1/files/${await filmAt(path)}/stream`);
      expect(got.status, path).to.equal(415);
      expect(got.text, path).to.not.include(CANARY);
    }
    const inside = await owner.createLibrary({
      body: { name: 'inside', type: 'movies', folders: [{ storageId: rootId, path: 'films-private' }] },
    });
    expect(inside.status).to.equal(201);
  });

  it('Navidrome GHSA-r5qr-m328-qcf4: a file that became a link after the scan is not followed out', async () => {
    const path = join(api.mediaRoot, 'films', 'later.flac');
    writeFileSync(path, 'sound');
    const fileId = await filmAt('films/later.flac');
    expect((await raw(`/api/v1/files/${fileId}/stream`)).text).to.equal('sound');
    rmSync(path);
    symlinkSync(join(api.mediaRoot, '..', 'secret.txt'), path);
    for (const way of ['stream', 'download']) {
      const got = await raw(`/api/v1/files/${fileId}/${way}`);
      expect(got.status, way).to.equal(415);
      expect(got.text, way).to.not.include(CANARY);
    }
  });

  it('Jellyfin CVE-2026-49247 and CVE-2023-30626: names that a client gives itself are text, never a part of a path', async () => {
    const before = readdirSync(join(api.mediaRoot, '..')).sort();
    const { username } = await somebody(api);
    for (const id of ['../../../../tmp/evil-client-id', '..%2f..%2fevil-client-id', 'a/../../evil-client-id']) {
      const body = { username, password: PASSWORD };
      const answer = await api.anyone.login({ body, headers: { 'x-client-id': id, 'x-client-name': id } });
      expect(answer.status, id).to.equal(200);
      const named = await api.anyone.login({
        body,
        headers: { 'x-client-id': 'a-good-client-id', 'x-client-name': id },
      });
      expect(named.status, id).to.equal(200);
      expect(await api.deps.db('devices').where({ client_id: 'a-good-client-id' }).pluck('name')).to.deep.equal([id]);
    }
    const rows = JSON.stringify(await api.deps.db('devices').select('client_id'));
    expect(rows).to.not.include('evil');
    expect(readdirSync(join(api.mediaRoot, '..')).sort()).to.deep.equal(before);
    expect(existsSync('/tmp/evil-client-id')).to.equal(false);
  });

  it('Jellyfin GHSA-6828-c7cx-hvqm: the name of a library is a word, and makes no folder', async () => {
    const before = readdirSync(join(api.mediaRoot, '..'), { recursive: true }).length;
    for (const name of ['../../escaped', '/escaped', '..', 'C:\\escaped', 'a/../../escaped']) {
      const made = await owner.createLibrary({ body: { name, type: 'movies' } });
      expect([made.status, made.body.name], name).to.deep.equal([201, name]);
      const changed = await owner.updateLibrary({ params: { id: made.body.id }, body: { name: `${name}/2` } });
      expect(changed.status, name).to.equal(200);
    }
    expect(readdirSync(join(api.mediaRoot, '..'), { recursive: true }).length).to.equal(before);
    expect((await api.anyone.createLibrary({ body: { name: 'x', type: 'movies' } })).status).to.equal(401);
  });

  it('audiobookshelf CVE-2024-43797, GHSA-47g3-c5hx-2q3w, GHSA-xjqw-8829-qmm6: people who do not manage name no folder', async () => {
    const member = api.as(await api.given.member());
    const { id } = (await owner.createLibrary({ body: { name: 'shared', type: 'movies' } })).body;
    for (const path of ['films', '../..', '/etc', '']) {
      const folders = [{ storageId: rootId, path }];
      expect((await member.createLibrary({ body: { name: 'mine', type: 'movies', folders } })).status).to.equal(403);
      const added = await member.addLibraryFolders({ params: { id }, body: { folders } });
      expect(added.status, path).to.be.oneOf([400, 403, 404]);
    }
    const { rows } = await api.deps.db.raw('select count(*)::int as n from library_folders where library_id = ?', [id]);
    expect(rows[0].n).to.equal(0);
  });

  describe('Jellyfin 62a5ded920, Immich isInitialized: the first-run wizard', () => {
    let fresh: Api;
    const draft = { username: 'ana', password: 'a good long one' };
    before(async () => {
      fresh = await startApi({
        FOYER_CLAIM_SHA256: createHash('sha256').update(CODE).digest('hex'),
        FOYER_CLAIM_FROM: 'link',
      });
    });
    const everything = (ticket: string) => {
      const me = clientFor(fresh.url, { authorization: `Bearer ${ticket}` });
      return Promise.all([
        me.getSetup(),
        me.saveSetupDraft({ body: { revision: 0 } }),
        me.listSetupFolders({ query: { rootId } }),
        me.runSetupChecks({ body: {} }),
        me.completeSetup({ body: { ...draft, username: 'eve' } }),
        me.claimServer({ body: { code: CODE } }),
      ]);
    };

    it('stays closed once it is done, also when the owner is gone or switched off', async () => {
      const { ticket = '' } = (await fresh.anyone.claimServer({ body: { code: CODE } })).body;
      const me = clientFor(fresh.url, { authorization: `Bearer ${ticket}` });
      expect((await me.completeSetup({ body: draft })).status).to.equal(201);
      const closed = async (what: string): Promise<void> => {
        for (const answer of await everything(ticket))
          expect([answer.status, errorOf(answer).code], what).to.deep.equal([409, 'SETUP_ALREADY_COMPLETE']);
      };
      await closed('done');
      await fresh.deps.db('accounts').where({ role: 'owner' }).update({ disabled: true });
      await closed('owner off');
      await fresh.deps.db('accounts').where({ role: 'owner' }).update({ role: 'member' });
      await closed('no owner');
    });

    it('makes no second owner where its mark was lost', async () => {
      await fresh.deps.db('accounts').where({ username: 'ana' }).update({ role: 'owner', disabled: false });
      await fresh.deps.db('server_state').update({ setup_completed_at: null });
      const { ticket = '' } = (await fresh.anyone.claimServer({ body: { code: CODE } })).body;
      const me = clientFor(fresh.url, { authorization: `Bearer ${ticket}` });
      expect((await me.completeSetup({ body: { ...draft, username: 'eve' } })).status).to.be.within(400, 499);
      expect(await fresh.deps.db('accounts').where({ role: 'owner' }).pluck('username')).to.deep.equal(['ana']);
    });

    it('is closed while Postgres does not answer', async () => {
      await fresh.deps.db.raw('alter table server_state rename to server_state_away');
      try {
        for (const answer of await everything('foyst_none')) expect(answer.status).to.be.within(500, 503);
      } finally {
        await fresh.deps.db.raw('alter table server_state_away rename to server_state');
      }
    });
  });
});
