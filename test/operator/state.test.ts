import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlreadyRunning, holderOf, setAside, takeLock } from '#operator/local/lock.ts';
import { portFault, portIsFree, State } from '#operator/local/state.ts';
import { Refused } from '#operator/refused.ts';
import { readKeys } from '#platform/keys.ts';

describe('data directory', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-state-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('creates its secrets once, readable by its own user only', () => {
    const first = new State(dir);
    const keys = readFileSync(first.keysFile, 'utf8');
    expect(first.operatorKey).to.match(/^foyer_[A-Za-z0-9_-]{43}$/);
    expect(first.claimCode).to.match(/^[0-9a-hjkmnp-tv-z]{26}$/);
    for (const file of [first.keysFile, join(dir, 'state.json')]) expect(statSync(file).mode & 0o777).to.equal(0o600);
    const again = new State(dir);
    expect(readFileSync(again.keysFile, 'utf8')).to.equal(keys);
    expect(again).to.include({ claimCode: first.claimCode, operatorKey: first.operatorKey });
    expect(again.databasePassword).to.equal(first.databasePassword);
  });

  it('makes a key ring that the server takes', async () => {
    const { keysFile } = new State(dir);
    const keys = await readKeys(keysFile);
    expect(keys.sealing[0]?.key).to.have.length(32);
    expect(keys.cursor.symmetricKeySize).to.equal(32);
    expect(keys.serverId).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const ring = JSON.parse(readFileSync(keysFile, 'utf8')) as { identity: { jwk: import('node:crypto').JsonWebKey } };
    const key = createPrivateKey({ key: ring.identity.jwk, format: 'jwk' });
    const signature = sign(null, Buffer.from('x'), key);
    expect(verify(null, Buffer.from('x'), createPublicKey(key), signature)).to.equal(true);
  });

  it('gives each media entry and resource one id for good', () => {
    const state = new State(dir);
    const [films, home] = [state.mediaId('films'), state.uidOf('Library', 'home')];
    expect(new State(dir).mediaId('films')).to.equal(films);
    expect(state.mediaId('shows')).not.to.equal(films);
    expect(new State(dir).uidOf('Library', 'home')).to.equal(home);
    state.forget('Library', 'home');
    expect(new State(dir).uidOf('Library', 'home')).not.to.equal(home);
  });

  it('remembers ports, and takes another when one is taken', async () => {
    const state = new State(dir);
    const port = await state.portOf('redis');
    expect(await new State(dir).portOf('redis')).to.equal(port);
    const server = createServer().listen({ port, host: '127.0.0.1', reusePort: true });
    await once(server, 'listening');
    expect(await portIsFree(port)).to.equal(false);
    expect(await portFault(port)).to.contain('in use by another program');
    expect(await portFault(port, '203.0.113.1'), 'taken by no process').to.contain('EADDRNOTAVAIL');
    expect(await new State(dir).portOf('redis')).not.to.equal(port);
    server.close();
  });

  it('gives stores ports that no outgoing connection takes while they are down', async () => {
    const [low = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t').map(Number);
    const state = new State(dir);
    for (const store of ['postgres', 'redis']) expect(await state.portOf(store)).to.be.within(1024, low - 1);
  });

  it('is refused when it is broken, rather than created again', () => {
    for (const broken of ['{ half', '{"operatorKey":"x"}', '']) {
      writeFileSync(join(dir, 'state.json'), broken);
      expect(() => new State(dir), broken).to.throw(Refused, /state\.json is damaged/); // one line at the terminal
    }
  });

  describe('lock', () => {
    it('is held by one process at a time, and reports by which', () => {
      const release = takeLock(dir, 8080);
      expect(() => takeLock(dir, 8081)).to.throw(AlreadyRunning, `in use by the process ${process.pid}`);
      expect(holderOf(dir)).to.include({ pid: process.pid, port: 8080 });
      release();
      expect(holderOf(dir)).to.equal(undefined);
      takeLock(dir, 8081)();
    });

    it('is taken from a holder that is dead', () => {
      mkdirSync(join(dir, 'run'));
      const dead = { pid: process.pid, identity: 'another:1', port: 1, startedAt: 'then' }; // our pid, an earlier process
      writeFileSync(join(dir, 'run', 'operator.lock'), JSON.stringify(dead));
      takeLock(dir, 8080)();
    });

    it('is taken where a power cut left an empty one', () => {
      mkdirSync(join(dir, 'run'));
      writeFileSync(join(dir, 'run', 'operator.lock'), '');
      expect(holderOf(dir)).to.equal(undefined);
      takeLock(dir, 8080)();
    });

    it('is put back by a starter that took it for the dead one', () => {
      const release = takeLock(dir, 8080);
      setAside(dir);
      expect(holderOf(dir)).to.include({ pid: process.pid });
      release();
    });

    it('goes to exactly one of many starters after a crash', async () => {
      mkdirSync(join(dir, 'run'));
      const dead = { pid: 1, identity: 'another:1', port: 1, startedAt: 'then' };
      writeFileSync(join(dir, 'run', 'operator.lock'), JSON.stringify(dead));
      const module = new URL('../../operator/local/lock.ts', import.meta.url).href;
      const script = `import { takeLock } from '${module}';
        try { takeLock('${dir}', 1); process.stdout.write('held'); setTimeout(() => undefined, 3000); } catch { process.stdout.write('refused'); }`;
      const starters = Array.from({ length: 6 }, () => spawn(process.execPath, ['--input-type=module', '-e', script]));
      const answers = starters.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]));
      const responses = await Promise.all(answers);
      for (const starter of starters) starter.kill();
      expect(responses.filter((answer) => answer === 'held')).to.have.length(1);
    });
  });
});
