import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { takeLock } from '#operator/local/lock.ts';
import { homeText, mediaOf } from '../../hack/home.ts';

describe('the resources of hack/start', () => {
  let dir: string;
  let places: { requested: string | undefined; own: string; demo: string };
  const at = (name: string): string => {
    mkdirSync(join(dir, name, 'movies'), { recursive: true });
    return join(dir, name);
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer home ü-'));
    places = { requested: undefined, own: join(dir, 'media'), demo: join(dir, 'data', 'demo') };
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('serve the requested folder, else that of the previous start, else ./media, else the demo', () => {
    expect(mediaOf(places, '')).to.equal(places.demo);
    const srv = at('srv #1');
    const before = homeText(srv, '');
    expect(mediaOf(places, before)).to.equal(srv);
    expect(mediaOf({ ...places, requested: '/other' }, before)).to.equal('/other');
    at('media');
    expect(mediaOf(places, before)).to.equal(srv);
    expect(mediaOf(places, '')).to.equal(places.own);
    expect(mediaOf(places, homeText(at('data/demo'), ''))).to.equal(places.own);
    rmSync(srv, { recursive: true });
    expect(mediaOf(places, before)).to.equal(places.own);
    rmSync(places.own, { recursive: true });
    expect(mediaOf(places, before)).to.equal(srv);
    expect(homeText(srv, before)).to.equal(before);
  });

  it('keep the notes of people on the server', () => {
    const first = homeText(at('srv'), '');
    const noted = first.replace('  name: home\n', '  name: home\n  annotations:\n    foyer.media/reconcile: paused\n');
    expect(noted).not.to.equal(first);
    expect(homeText(at('srv'), noted)).to.equal(noted);
  });

  it('are left alone by a start next to a running one', async () => {
    const data = at('data');
    const file = join(data, 'home.yaml');
    const write = async (media: string): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        'hack/home.ts',
        'write',
        data,
        places.own,
        media,
      ]);
      expect(stdout).to.equal(file);
      return readFileSync(file, 'utf8');
    };
    writeFileSync(file, '');
    const first = await write(at('one'));
    const release = takeLock(data, 1);
    expect(await write(at('two'))).to.equal(first);
    release();
    expect(await write(at('two'))).not.to.equal(first);
  });
});
