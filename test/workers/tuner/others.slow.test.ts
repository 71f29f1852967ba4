// The devices, guides and senders of the tests against programs of others: what they speak is what the world speaks.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { requirePrograms } from '#support/debian.ts';
import { atEnd, freePort, temporaryFolder } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { DEVICE, HdHomeRun } from '#support/tuners.ts';
import { DISCOVERY_PORT } from '#workers/tuner/discovery.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';
import { RECORDED_SHOWS } from '../../areas/live-tv/recording-place.ts';
import { guideOf, type Show } from '../live/support.ts';

const PACKET = 188;
const NULL_PID = 0x1fff;
const ENOUGH_PACKETS = 1500;
const RICH: Show[] = [
  {
    ...{ at: 0, title: 'Café Film' },
    more:
      '<sub-title>Part</sub-title><desc>Secret</desc><credits><director>Ana</director></credits><date>1950</date>' +
      '<category>Movie</category><episode-num system="xmltv_ns">0.4.</episode-num><previously-shown/><premiere/>' +
      '<new/><rating><value>FSK 18</value></rating><star-rating><value>9/10</value></star-rating>',
  },
];

describe('live television next to programs of others', function () {
  this.timeout(120_000);
  const folder = temporaryFolder('others');
  const film = join(folder, 'broadcast.ts');
  before(() => {
    requirePrograms({
      ...{ hdhomerun_config: 'hdhomerun-config', tv_validate_file: 'xmltv-util' },
      ...{ multicat: 'multicat', ingests: 'multicat', dvblast: 'dvblast' },
    });
    writeFileSync(film, broadcast('h264-mp2'));
  });

  const run = (program: string, args: string[]): ChildProcess => {
    const child = spawn(program, args, { stdio: 'ignore', cwd: folder });
    atEnd(() => child.kill('SIGKILL'));
    return child;
  };
  /** The first packets that a group sends. */
  async function heard(url: string): Promise<Buffer> {
    const stop = new AbortController();
    const ways = { send: createOutboundStream(), connect: createOutboundSocket(), signal: stop.signal };
    const { bytes } = await openSource({ url, headers: {} }, { ...ways, networks: {} });
    const chunks: Buffer[] = [];
    const late = setTimeout(() => stop.abort(), 30_000);
    try {
      for await (const chunk of bytes) {
        chunks.push(chunk);
        if (chunks.reduce((sum, one) => sum + one.length, 0) > ENOUGH_PACKETS * PACKET) break;
      }
    } finally {
      clearTimeout(late);
      stop.abort();
    }
    return Buffer.concat(chunks);
  }
  /** Pictures, and each stream counts its packets without a hole. */
  function expectWhole(bytes: Buffer): void {
    const path = join(folder, 'heard.ts');
    writeFileSync(path, bytes);
    const counters = new Map<number, number>();
    const holes: number[] = [];
    for (let at = 0; at + PACKET <= bytes.length; at += PACKET) {
      expect(bytes[at], `packet at ${at}`).to.equal(0x47);
      const [pid, last] = [bytes.readUInt16BE(at + 1) & 0x1fff, bytes[at + 3] ?? 0];
      if (pid === NULL_PID || (last & 0x10) === 0) continue;
      const before = counters.get(pid);
      if (before !== undefined && (last & 15) !== ((before + 1) & 15)) holes.push(pid);
      counters.set(pid, last & 15);
    }
    expect(holes, 'holes, by stream').to.deep.equal([]);
    const args = ['-v', 'fatal', '-i', path, '-map', '0:v', '-f', 'framemd5', '-'];
    const lines = execFileSync('ffmpeg', args).toString().split('\n');
    expect(lines.filter((line) => /^0,/.test(line)).length, 'pictures').to.be.above(20);
  }

  it('is found by the tool of the maker, at its address, with its id', async () => {
    const device = await HdHomeRun.start([]);
    await device.hear(DISCOVERY_PORT);
    const child = spawn('hdhomerun_config', ['discover', '127.0.0.1'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    for await (const chunk of child.stdout) printed += String(chunk);
    expect(printed.trim()).to.equal(`hdhomerun device ${DEVICE} found at 127.0.0.1`);
  });

  it('has guides that the validator of XMLTV passes', () => {
    for (const [name, shows] of Object.entries({ plain: RECORDED_SHOWS, rich: RICH })) {
      const path = join(folder, `${name}.xml`);
      const channels = [...new Set(shows.map(({ channel = 'one.example' }) => channel))];
      writeFileSync(path, guideOf(shows, channels));
      const env = { ...process.env, XMLTV_SUPPLEMENT: '/usr/share/xmltv' };
      const { status, stdout, stderr } = spawnSync('tv_validate_file', [path], { env, encoding: 'utf8' });
      expect([name, status, `${stdout}${stderr}`.trim()]).to.deep.equal([name, 0, 'Validated ok.']);
    }
  });

  it('hears what multicat and dvblast send to a group, plain and in RTP, without a hole', async () => {
    execFileSync('ingests', ['-p', '256', film]);
    const [plain, rtp, relayed] = [await freePort(), await freePort(), await freePort()];
    const sent = async (source: string, start: () => ChildProcess): Promise<Buffer> => {
      const hearing = heard(source);
      await sleep(300);
      const sender = start();
      const bytes = await hearing;
      sender.kill('SIGKILL');
      return bytes;
    };
    expectWhole(await sent(`udp://@239.255.7.1:${plain}`, () => run('multicat', ['-U', film, `239.255.7.1:${plain}`])));
    expectWhole(await sent(`rtp://@239.255.7.2:${rtp}`, () => run('multicat', [film, `239.255.7.2:${rtp}`])));
    const config = join(folder, 'dvblast.conf');
    writeFileSync(config, `239.255.7.3:${relayed} 1 1\n`);
    run('dvblast', ['-q', '-D', `@239.255.7.2:${rtp}`, '-c', config]);
    await sleep(1000);
    expectWhole(await sent(`rtp://@239.255.7.3:${relayed}`, () => run('multicat', [film, `239.255.7.2:${rtp}`])));
  });
});
