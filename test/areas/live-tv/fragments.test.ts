// Channels in HEVC, which players take in fragmented MP4 alone.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Api, TestClient } from '#support/api.ts';
import { watchedChannel } from '#support/live-stage.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { toFragments } from '#workers/transcode/live/fragments.ts';

describe('watching a channel in HEVC', function () {
  this.timeout(120_000);
  let api: Api;
  let channel: string;
  let viewer: TestClient;
  let headers: Record<string, string>;

  const watch = (client: object) => viewer.watchLiveChannel({ params: { id: channel }, body: { client } as never });
  const bytesOf = async (path: string): Promise<Buffer> => {
    const answer = await api.fetch(path, { headers });
    expect([path, answer.status, answer.headers.get('content-type')]).to.deep.equal([path, 200, 'video/mp4']);
    return Buffer.from(await answer.arrayBuffer());
  };

  before(async () => {
    ({ api, channel, viewer, headers } = await watchedChannel('hevc'));
  });

  it('copies its pictures for a client that plays them, without a lost one between two segments', async () => {
    const { status, body } = await watch({ builtIn: 'safari' });
    expect(status).to.equal(201);
    const { id, decision, live } = body.session;
    expect(decision).to.deep.include({ method: 'direct_stream', container: 'fmp4', quality: 'original' });
    expect([decision.video?.action, decision.video?.codec, decision.audio?.codec]).to.deep.equal([
      'copy',
      'hevc',
      'aac',
    ]);
    const address = `/api/v1/live/sessions/${id}/${live?.rendition}`;
    const text = await eventually(async () => {
      const answer = await api.fetch(`${address}/index.m3u8`, { headers });
      const found = answer.status === 200 ? await answer.text() : '';
      return found.split('#EXTINF').length > 4 && found;
    }, 60_000);
    const lines = text.split('\n');
    const [, init = ''] = lines.find((line) => line.startsWith('#EXT-X-MAP'))?.match(/URI="(.*)"/) ?? [];
    const cut = lines.findIndex((line, at) => at > 12 && line === '#EXT-X-DISCONTINUITY');
    const names = lines.slice(0, cut < 0 ? undefined : cut).filter((line) => line.endsWith('.m4s'));
    const head = await bytesOf(`${address}/${init}`);
    expect((await bytesOf(`${address}/segments/init.mp4`)).length).to.equal(head.length);
    const path = join(temporaryFolder('live-hevc'), 'all.mp4');
    const parts = await Promise.all(names.slice(0, 4).map((name) => bytesOf(`${address}/${name}`)));
    writeFileSync(path, Buffer.concat([head, ...parts]));
    const probed = (show: string, ...more: string[]): string[] =>
      execFileSync('ffprobe', ['-v', 'error', ...more, '-show_entries', show, '-of', 'csv=p=0', path])
        .toString()
        .trim()
        .split('\n');
    expect(probed('stream=codec_name,codec_tag_string')).to.deep.equal(['hevc,hvc1', 'aac,mp4a']);
    const times = probed('packet=pts_time', '-select_streams', 'v')
      .map(Number)
      .sort((a, b) => a - b);
    const steps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(times.length).to.be.greaterThan(70);
    expect(Math.max(...steps), 'no picture is missing').to.be.lessThan(0.045);
    expect(Math.min(...steps), 'no picture is there twice').to.be.greaterThan(0.035);
    const ranged = await api.fetch(`${address}/${names[0]}`, { headers: { ...headers, range: 'bytes=0-99' } });
    expect([ranged.status, Buffer.from(await ranged.arrayBuffer())]).to.deep.equal([206, parts[0]?.subarray(0, 100)]);
    expect((await api.fetch(`${address}/${names[0]?.replace('m4s', 'ts')}`, { headers })).status).to.equal(404);
    await viewer.endPlaybackSession({ params: { id } });
  });

  it('is not held up by a piece that takes too long, or is none', async () => {
    const source = join(temporaryFolder('piece'), 'source.ts');
    writeFileSync(source, broadcast('hevc'));
    const encoding = ['-t', '4', '-c:v', 'copy', '-c:a', 'aac', '-f', 'mpegts', 'pipe:1'];
    const piece = execFileSync('ffmpeg', ['-v', 'error', '-i', source, ...encoding], { maxBuffer: 64 << 20 });
    const failure = (bytes: Buffer, limitMs?: number): Promise<string> =>
      toFragments(bytes, limitMs).then(
        () => 'made',
        ({ message }: Error) => message,
      );
    expect(await failure(piece)).to.equal('made');
    expect(await failure(piece, 1)).to.equal('not made within 1 ms');
    expect(await failure(Buffer.alloc(1880, 0x47))).to.not.equal('made');
  });

  it('encodes them for one that does not', async () => {
    const { body } = await watch({ builtIn: 'firefox' });
    expect(body.session.decision).to.deep.include({ method: 'transcode', container: 'ts' });
    expect(body.session.decision.reasons).to.include('video-codec-not-supported');
    await viewer.endPlaybackSession({ params: { id: body.session.id } });
  });
});
