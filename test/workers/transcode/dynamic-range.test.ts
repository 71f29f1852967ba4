import { join } from 'node:path';
import { expect } from 'chai';
import type { StreamPlan } from '#areas/streaming/public.ts';
import { type Looked, look, planFor, render } from '#support/hls-render.ts';
import { tool } from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';

const RATE = 48_000;
/** How much louder its middle two seconds are than the rest. */
const LOUDER = 40;

describe('dynamic range', function () {
  this.timeout(120_000);
  let film: Looked;
  let plain: StreamPlan;

  before(async () => {
    const path = join(temporaryFolder('dynamic-range'), 'film.mkv');
    const picture = 'testsrc2=size=160x90:rate=24:duration=6';
    const sound = `aevalsrc=exprs='0.02*(1+${LOUDER - 1}*between(t,2,4))*sin(880*PI*t)':sample_rate=${RATE}:duration=6`;
    const inputs = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', sound];
    await tool('ffmpeg', ['-v', 'error', ...inputs, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'flac', path]);
    film = await look(path);
    plain = planFor(film, { mode: 'encode', height: 90 });
  });

  /** Samples of the whole film's sound. */
  async function heard(dynamicRange: 'standard' | 'night' | undefined): Promise<Float32Array> {
    const plan = { ...plain, audio: plain.audio.map((audio) => ({ ...audio, dynamicRange })) };
    const { files, words } = await render(film, plan, { from: 0, to: 2 });
    const names = ['init.mp4', '0.m4s', '1.m4s', '2.m4s'].map((name) => `a0/segments/${name}`);
    const parts = names.map((name) => files.get(name));
    expect(parts, `all made: ${words}`).to.not.include(undefined);
    const decode = ['-v', 'error', '-i', 'pipe:0', '-f', 'f32le', '-ac', '1', 'pipe:1'];
    const raw = await tool('ffmpeg', decode, Buffer.concat(parts as Buffer[]));
    return new Float32Array(new Uint8Array(raw).buffer);
  }

  const loudness = (samples: Float32Array, fromSec: number, toSec: number): number => {
    const part = samples.subarray(fromSec * RATE, toSec * RATE);
    return Math.sqrt(part.reduce((sum, one) => sum + one * one, 0) / part.length);
  };

  const span = (samples: Float32Array): number => loudness(samples, 2.5, 3.5) / loudness(samples, 0.5, 1.5);

  it('brings loud places nearer to quiet ones, more so at night, below full scale and of the same length', async () => {
    const [off, standard, night] = [await heard(undefined), await heard('standard'), await heard('night')];
    expect(span(off)).to.be.greaterThan(LOUDER / 2);
    expect(span(standard)).to.be.lessThan(span(off) * 0.75);
    expect(span(night)).to.be.lessThan(span(standard) / 2);
    for (const samples of [standard, night]) {
      expect(samples).to.have.length(off.length);
      expect(loudness(samples, 0.5, 1.5)).to.be.greaterThan(loudness(off, 0.5, 1.5));
      expect(samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).to.be.lessThan(1);
    }
  });
});
