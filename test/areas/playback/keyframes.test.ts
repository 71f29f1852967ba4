import { join } from 'node:path';
import { expect } from 'chai';
import { encodeKeyframes } from '#platform/media.ts';
import { audio, GivenPlayback, HOUR, video } from '#support/given-playback.ts';
import { tool } from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';
import { readKeyframes } from '#workers/probe/keyframes.ts';
import { probeFile } from '#workers/probe/probe.ts';

describe('a picture that goes through as it is', function () {
  this.timeout(60_000);
  const { film, play } = new GivenPlayback();

  const decided = async (times: number[]) => {
    const keyframes = encodeKeyframes(times);
    const id = await film({ container: 'matroska', keyframes, streams: [video, audio] });
    const { method, reasons } = (await play(id)).body.session.decision;
    return [method, reasons.includes('keyframes-unknown')];
  };
  const each = (ms: number): number[] => Array.from({ length: Math.ceil(HOUR / ms) }, (_, i) => i * ms);

  it('has keyframes to be cut at, none of them far from the next', async () => {
    expect(await decided(each(5000))).to.deep.equal(['direct_stream', false]);
    expect(await decided(each(5000).filter((at) => at < 600_000 || at > 640_000))).to.deep.equal(['transcode', true]);
    expect(await decided(each(5000).slice(0, -10)), 'the end').to.deep.equal(['transcode', true]);
    expect(await decided([]), 'none').to.deep.equal(['transcode', true]);
  });

  it('is not read from a container that does not state when pictures are shown', async () => {
    const path = join(temporaryFolder('keyframes'), 'film.avi');
    const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=64x36:r=10:d=3', '-c:v', 'libx264', '-bf', '2'];
    await tool('ffmpeg', ['-v', 'error', ...picture, path]);
    const { file } = await probeFile(path, {});
    expect(await readKeyframes(path, file)).to.deep.equal([]);
  });
});
