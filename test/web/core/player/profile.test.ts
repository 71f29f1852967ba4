import { expect } from 'chai';
import { clientProfile, measure, type Probe, refuseCodec } from '../../../../web/src/core/player/profile.ts';

/** A browser with H.264, VP9 and AV1 with 10 bits, AAC and Opus. */
const probe = (more: Partial<Probe> = {}): Probe => {
  const works = (type: string): boolean => /avc1|vp09|av01|mp4a|opus/.test(type);
  return {
    file: works,
    stream: works,
    smooth: async (type) => type.startsWith('avc1'),
    hdr: false,
    switchesAudio: false,
    version: 'a 1',
    ...more,
  };
};

function storage(): Pick<Storage, 'getItem' | 'setItem'> {
  const kept = new Map<string, string>();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) };
}

describe('the measured profile of a browser', () => {
  it('says what it decodes, in which containers, and how large', async () => {
    const { direct = [], hls, subtitles } = await measure(probe());
    expect(direct.map(({ containers }) => containers[0])).to.deep.equal(['mp4', 'webm', 'ogg', 'aac']);
    expect(hls?.video.map(({ codec }) => codec)).to.deep.equal(['h264', 'av1', 'vp9']);
    expect(hls?.video[0]?.maxWidth, 'smooth in ultra HD').to.equal(undefined);
    expect(hls?.video[1]).to.include({ maxWidth: 1920, maxBitDepth: 10 });
    expect(hls?.video[1]?.hdr, 'a screen without HDR').to.deep.equal([]);
    expect(hls?.audio.map(({ codec }) => codec)).to.deep.equal(['aac', 'opus']);
    expect(subtitles).to.deep.equal({ formats: ['vtt', 'ass'], pictures: true });
  });

  it('names HDR on a screen that shows it', async () => {
    const { hls } = await measure(probe({ hdr: true }));
    expect(hls?.video[1]?.hdr).to.deep.equal(['hdr10', 'hlg']);
    expect(hls?.video[0]?.hdr, 'no 10 bits, no HDR').to.deep.equal([]);
  });

  it('is measured once a version', async () => {
    const home = storage();
    let probes = 0;
    const count = async (): Promise<boolean> => {
      probes += 1;
      return true;
    };
    const counting = (version: string): Probe => probe({ version, smooth: count });
    await clientProfile(counting('a 1'), home);
    const first = probes;
    await clientProfile(counting('a 1'), home);
    expect(probes).to.equal(first);
    await clientProfile(counting('a 2'), home);
    expect(probes).to.be.greaterThan(first);
  });

  it('leaves out a codec that failed, but never what the server converts to', async () => {
    const home = storage();
    await refuseCodec(probe(), home, 'av1');
    const { hls, direct = [] } = await refuseCodec(probe(), home, 'h264');
    expect(hls?.video.map(({ codec }) => codec)).to.deep.equal(['h264', 'vp9']);
    expect(direct[0]?.video?.map(({ codec }) => codec)).to.deep.equal(['vp9']);
    expect((await clientProfile(probe(), home)).hls?.video).to.have.length(2);
  });
});
