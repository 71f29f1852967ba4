import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createPictures, ParserUnavailable, PictureRefused, type PictureRules } from '#platform/pictures.ts';
import { toFrame } from '#platform/pictures-frames.ts';
import { type Api, startApi } from '#support/api.ts';
import { factsOf, png } from '#support/pictures.ts';
import { started } from '#support/processes.ts';
import { errorOf } from '#support/signing-in.ts';
import { eventually, freePort } from '#support/stores.ts';

const rules: PictureRules = { accepts: ['png', 'webp'], minSide: 16, maxSide: 4096, maxPixels: 1e8, maxFrames: 60 };
const make = { format: 'webp', width: 100, height: 100, fit: 'inside' } as const;

/** A parser pod's process, and how to end it. */
async function givenParser(): Promise<{ url: string; end: () => Promise<void> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const pid = await started(['workers/parser/main.ts'], { FOYER_PORT: String(port) }, 'parser is up');
  const gone = (): Promise<boolean> =>
    fetch(`${url}/live`).then(
      () => false,
      () => true,
    );
  return {
    url,
    async end() {
      process.kill(pid, 'SIGTERM');
      await eventually(gone);
    },
  };
}

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => (error instanceof PictureRefused ? error.reason : (error as Error).constructor.name),
  );

describe('The parser pool', () => {
  let parser: Awaited<ReturnType<typeof givenParser>>;
  before(async () => {
    parser = await givenParser();
  });

  it('opens pictures as the jail of one machine does, and reports that it can', async () => {
    const given = { bytes: await png(300, 200), type: 'image/png' };
    const there = await createPictures(parser.url).take(given, rules, make);
    const here = await createPictures(undefined).take(given, rules, make);
    expect(there).to.deep.equal(here);
    expect(await factsOf(there.bytes)).to.include({ format: 'webp', width: 100, height: 67 });
    const again = await createPictures(parser.url).remake(there.bytes, { ...make, width: 50, height: 50 });
    expect(await factsOf(again)).to.include({ width: 50, height: 34 });
    expect((await fetch(`${parser.url}/ready`)).status).to.equal(200);
  });

  it('reports why a picture is refused', async () => {
    const pictures = createPictures(parser.url);
    const broken = Buffer.concat([(await png()).subarray(0, 60), Buffer.alloc(200)]);
    expect(await outcome(pictures.take({ bytes: broken, type: 'image/png' }, rules, make))).to.equal('not_an_image');
    const small = { bytes: await png(4, 4), type: 'image/png' };
    expect(await outcome(pictures.take(small, rules, make))).to.equal('image_too_small');
  });

  it('refuses an invalid request, and continues', async () => {
    const options = { format: 'png', rules, facts: true };
    const bodies = [
      Buffer.from('hello'),
      toFrame({ ...options, path: '/etc/passwd' }, await png()),
      toFrame({ ...options, format: 'pdf' }, await png()),
      Buffer.concat([Buffer.from([255, 255, 255, 255, 255, 255, 255, 255]), Buffer.alloc(9)]),
    ];
    for (const body of bodies) {
      const answer = await fetch(`${parser.url}/pictures`, { method: 'POST', body: new Uint8Array(body) });
      expect(answer.status).to.equal(400);
    }
    expect((await fetch(`${parser.url}/anything`)).status).to.equal(404);
    expect((await fetch(`${parser.url}/ready`)).status).to.equal(200);
  });

  it('is sent the request again when a pod ends in the middle', async () => {
    const given = { bytes: await png(), type: 'image/png' };
    let requests = 0;
    const ending = createServer((request, response) => {
      requests += 1;
      if (requests === 1) return void request.socket.destroy();
      void fetch(`${parser.url}${request.url}`, { method: 'POST', body: request, duplex: 'half' })
        .then(async (answer) => Buffer.from(await answer.arrayBuffer()))
        .then((bytes) => response.end(bytes));
    }).listen(0, '127.0.0.1');
    await once(ending, 'listening');
    const { port } = ending.address() as AddressInfo;
    const made = await createPictures(`http://127.0.0.1:${port}`).take(given, rules, make);
    expect(made.width).to.equal(300);
    expect(requests).to.equal(2);
    ending.closeAllConnections();
    ending.close();
  });

  describe('behind an API', () => {
    let api: Api;
    before(async () => {
      api = await startApi({ FOYER_PARSER_URL: parser.url });
    });

    it('processes its pictures; while it is unavailable they wait and all other work continues', async () => {
      const owner = await api.given.owner();
      const me = api.as(owner);
      const { profile } = (await me.getMe()).body;
      const upload = async () =>
        me.setProfileAvatar({
          params: { id: profile.id },
          body: await png(),
          headers: { 'content-type': 'image/png' },
        });
      expect((await upload()).status).to.equal(200);
      await parser.end();
      const aborted = await upload();
      expect(aborted.status).to.equal(503);
      expect(errorOf(aborted)).to.deep.include({ code: 'SERVICE_STARTING', details: { waitingFor: 'parser' } });
      expect((await api.anyone.getBranding()).status).to.equal(200);
      expect(await outcome(createPictures(parser.url).remake(await png(), make))).to.equal(ParserUnavailable.name);
    });
  });
});
