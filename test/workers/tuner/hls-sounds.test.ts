// A list of HLS of which one sound cannot be read.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { make, type Provider, provider } from '#support/hls-provider.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

describe('the sounds of a list of HLS', function () {
  this.timeout(60_000);
  let place: Provider;
  before(async () => {
    place = await provider();
    const segments = (name: string): string[] => ['-hls_segment_filename', join(place.folder, `${name}-%d.ts`)];
    make([place.folder, 'seen.m3u8'], ['-an', ...segments('seen')]);
    make([place.folder, 'sound.m3u8'], ['-vn', ...segments('sound')]);
    const open = readFileSync(join(place.folder, 'sound.m3u8'), 'utf8');
    const closed = open.replace('#EXTINF', '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"\n#EXTINF');
    writeFileSync(join(place.folder, 'closed.m3u8'), closed);
  });

  /** The codecs that are received with these renditions, and the faults that were noted. */
  async function received(sounds: readonly string[]): Promise<{ codecs: string[]; faults: string[] }> {
    const media = sounds.map((uri, at) => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="${at}",URI="${uri}"\n`);
    const lines = `#EXTM3U\n${media.join('')}#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="s"\nseen.m3u8\n`;
    writeFileSync(join(place.folder, 'all.m3u8'), lines);
    const faults: string[] = [];
    const ways = { send: createOutboundStream(), connect: createOutboundSocket() };
    const note = ({ message }: Error): void => void faults.push(message);
    const deps = { ...ways, note, networks: { always: ['127.0.0.1/32'] }, signal: AbortSignal.timeout(30_000) };
    const { bytes } = await openSource({ url: `${place.url}/all.m3u8`, headers: {} }, deps);
    const path = join(place.folder, 'all.ts');
    writeFileSync(path, Buffer.concat(await Array.fromAsync(bytes)));
    const show = ['-show_entries', 'stream=codec_name', '-of', 'default=nk=1:nw=1', path];
    const codecs = execFileSync('ffprobe', ['-v', 'error', ...show])
      .toString()
      .trim()
      .split('\n');
    return { codecs: [...new Set(codecs)], faults };
  }

  it('are replaced by the next one, where one is missing or encrypted by a kind that is not read', async () => {
    const { codecs, faults } = await received(['missing.m3u8', 'closed.m3u8', 'sound.m3u8']);
    expect(codecs).to.have.members(['h264', 'aac']);
    expect(faults.map((fault) => /404|SAMPLE-AES/.exec(fault)?.[0])).to.deep.equal(['404', 'SAMPLE-AES']);
  });

  it('are left out where none can be read', async () => {
    const { codecs, faults } = await received(['missing.m3u8']);
    expect([codecs, faults.length]).to.deep.equal([['h264'], 1]);
  });

  it('end the source where one names an address that is not allowed', async () => {
    const fault = await received(['http://169.254.169.254/a.m3u8', 'sound.m3u8']).catch((error: unknown) => error);
    expect(fault).to.include({ reason: 'refused' });
  });
});
