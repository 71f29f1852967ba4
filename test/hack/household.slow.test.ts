// A newcomer: a clean clone in an empty home, `hack/start`, the printed link, and a film that goes on in another browser.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '#support/stores.ts';
import { Hand, windowOf } from '../web/support/hands.ts';
import { openApp } from '../web/support/page.ts';
import { cueText, playsFrom } from '../web/support/player.ts';
import { OWNER } from '../web/support/server.ts';

/** Debian's account without rights. */
const WITHOUT_RIGHTS = 65_534;
/** The packages are downloaded, the web app is built and the demo library is made. */
const READY_MS = 15 * 60_000;
const FILM = 'a[href^="/item/"]:has-text("Tide")';

interface Started {
  link: string;
  stop: () => Promise<void>;
}

async function start(home: string, uid: number | undefined): Promise<Started> {
  const clone = join(home, 'foyer');
  const settings = join(homedir(), '.npmrc'); // where packages come from
  if (existsSync(settings)) copyFileSync(settings, join(home, '.npmrc'));
  execFileSync('git', ['clone', '-q', '--no-local', process.cwd(), clone]);
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, home]);
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  const own = Object.entries(process.env).filter(([name]) => /^(npm_config|pip)_|_proxy$|ssl|cert/i.test(name));
  const env = {
    ...Object.fromEntries(own),
    PATH: PATH.replaceAll(`${process.cwd()}/node_modules/.bin:`, ''),
    LANG,
    HOME: home,
  };
  const identity = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn('hack/start', ['--no-open', '--port', '0'], { cwd: clone, env, ...identity, detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      printed += data.toString();
    });
  const link = await eventually(() => {
    if (child.exitCode !== null) throw new Error(printed.slice(-3000));
    return Promise.resolve(/http:\S+\/setup\S*/.exec(printed)?.[0]);
  }, READY_MS);
  return { link, stop: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

describe('a newcomer with a clean clone and an empty home', function () {
  this.timeout(READY_MS + 300_000);

  for (const [who, uid] of Object.entries({
    'the user of the test': undefined,
    'a user without rights': WITHOUT_RIGHTS,
  }))
    it(`watches a film and goes on in another browser, as ${who}`, async () => {
      const home = mkdtempSync(join(tmpdir(), 'foyer-newcomer-'));
      chmodSync(home, 0o755);
      const { link, stop } = await start(home, process.getuid?.() === 0 ? uid : undefined);
      try {
        await watch(link);
      } finally {
        await stop();
        rmSync(home, { recursive: true, force: true });
      }
    });
});

async function watch(link: string): Promise<void> {
  const { origin, pathname, search, hash } = new URL(link);
  const hand = new Hand('mouse');
  const signIn = async (): Promise<void> => {
    await hand.fill('[name=username]', OWNER.username);
    await hand.fill('[name=password]', OWNER.password);
    await hand.press('button[type=submit]');
  };

  const first = await openApp(origin, pathname + search + hash, windowOf('mouse'));
  hand.take(first.page);
  await signIn();
  await hand.press('button:has-text("Begin")');
  await hand.press(FILM);
  await hand.press('.play a');
  await playsFrom(first, 0.5);
  await hand.move();
  await hand.press('button[aria-label=Subtitles]');
  await hand.press('[role=menuitemradio]:has-text("German")');
  await eventually(async () => (await cueText(first)).startsWith('Dieser Film dauert'), 20_000);
  await hand.press('[role=dialog] [aria-label=Close]');
  await hand.pressAt('[role=slider][aria-label=Position]', { x: 0.5, y: 0.5 });
  const left = await playsFrom(first, 65);
  await first.close();

  const second = await openApp(origin, '/', windowOf('mouse'));
  hand.take(second.page);
  await signIn();
  await hand.press('section:has(h2:has-text("Continue")) a[href^="/play/"]');
  expect(await playsFrom(second, 60)).to.be.within(left - 15, left + 15);
  expect(hand.inputs).to.be.below(40);
  await second.close();
}
