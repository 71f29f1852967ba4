import { join } from 'node:path';
import { expect } from 'chai';
import type { StreamPlan } from '#areas/streaming/public.ts';
import { look, planFor, render, type StreamChoice } from '#support/hls-render.ts';
import { tool } from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';

describe('pictures that are encoded', function () {
  this.timeout(120_000);

  /** The picture of the first segment of a film with these options. */
  async function shown(
    options: string[],
    { choice = {}, more = {} }: { choice?: Partial<StreamChoice>; more?: Partial<StreamPlan['video'][number]> } = {},
  ): Promise<Record<string, string | number>> {
    const path = join(temporaryFolder('pictures'), 'film.mkv');
    await tool('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=24:d=2', ...options, path]);
    const film = await look(path);
    const plan = planFor(film, { mode: 'encode', height: 90, ...choice });
    const video = plan.video.map((one) => ({ ...one, ...more }));
    const { files, words } = await render(film, { ...plan, video });
    const parts = ['init.mp4', '0.m4s'].map((name) => files.get(`v0/segments/${name}`));
    expect(parts, words).to.not.include(undefined);
    const fields = 'stream=width,height,sample_aspect_ratio,color_transfer,nb_read_frames,level';
    const args = ['-v', 'error', '-count_frames', '-show_entries', fields, '-of', 'json', 'pipe:0'];
    return JSON.parse((await tool('ffprobe', args, Buffer.concat(parts as Buffer[]))).toString()).streams[0];
  }

  it('keep the shape of their pixels, so that a DVD is shown as wide as it was', async () => {
    const dvd = await shown(['-vf', 'scale=180:144,setsar=64/45', '-c:v', 'mpeg2video']);
    expect(dvd).to.include({ width: 112, height: 90 });
    const [across = 0, down = 1] = String(dvd['sample_aspect_ratio']).split(':').map(Number);
    expect(((112 * across) / 90 / down).toFixed(2)).to.equal('1.78');
  });

  it('have square pixels where only the size was rounded', async () => {
    const odd = await shown(['-vf', 'scale=318:134,setsar=1', '-c:v', 'libx264']);
    expect(odd['sample_aspect_ratio']).to.equal('1:1');
  });

  for (const transfer of ['pq', 'hlg'] as const) {
    it(`are mapped to the range of every screen where their frames are not marked as ${transfer}`, async () => {
      const plain = ['-pix_fmt', 'yuv420p10le', '-c:v', 'libx265', '-x265-params', 'log-level=error'];
      const mapped = await shown(plain, { choice: { toneMap: true }, more: { transfer } });
      expect(mapped).to.include({ color_transfer: 'bt709', nb_read_frames: '48' });
    });
  }

  it('carry the level in their playlist', async () => {
    expect((await shown(['-c:v', 'libx264']))['level']).to.equal(30);
  });
});
