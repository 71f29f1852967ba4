import { expect } from 'chai';
import fc from 'fast-check';
import { h264Level } from '#areas/streaming/segments/codecs.ts';
import {
  copyBoundaries,
  firstAudioFrame,
  firstFrame,
  phaseOf,
  planOf,
  type StreamOptions,
  type StreamPlan,
  segmentAt,
  segmentCount,
  segmentStartMs,
} from '#areas/streaming/segments/plan.ts';
import { masterPlaylist, mediaPlaylist } from '#areas/streaming/segments/playlists.ts';
import { exactRate } from '#areas/streaming/segments/rate.ts';

const source = { storageId: 's', path: 'p', version: '1', container: 'matroska', startMs: 0 };

function plan(more: Partial<StreamOptions> & { keyframes?: number[]; frameRate?: number } = {}): StreamPlan {
  const { keyframes, frameRate = 23.976, ...options } = more;
  return planOf(
    {
      ...{ playbackSessionId: '', accountId: '', profileId: '', itemId: '', fileId: 'f', mode: 'encode' },
      ...{ container: 'fmp4', durationMs: 60_000, startMs: 0, audio: [], subtitles: [] },
      video: [
        {
          ...{ streamIndex: 0, action: 'encode', sourceCodec: 'hevc', codec: 'h264', width: 1280, height: 720 },
          ...{ frameRate, bitrate: 3_000_000, toneMap: false, deinterlace: false },
        },
      ],
      ...options,
    },
    { ...source, keyframes },
  );
}

describe('plan of a transcode session', () => {
  it('covers the whole film once: every moment lies in exactly the segment it is found in', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40_000_000 }),
        fc.array(fc.integer({ min: 0, max: 40_000_000 }), { maxLength: 60 }),
        fc.constantFrom('copy', 'encode'),
        (durationMs, times, mode) => {
          const one = plan({ durationMs, mode, keyframes: times.sort((a, b) => a - b) });
          const count = segmentCount(one);
          expect(segmentStartMs(one, 0)).to.equal(0);
          expect(segmentStartMs(one, count)).to.equal(durationMs);
          for (const n of [0, count >> 1, count - 1]) {
            expect(segmentStartMs(one, n)).to.be.lessThan(segmentStartMs(one, n + 1));
            expect(segmentAt(one, segmentStartMs(one, n))).to.equal(n);
            expect(segmentAt(one, segmentStartMs(one, n + 1) - 1)).to.equal(n);
          }
        },
      ),
    );
  });

  it('gives each frame and each sound frame to one segment, for every rate and phase', () => {
    const rates = [10, 12.5, 14.985, 23.976, 24, 25, 27.3, 29.97, 30, 50, 59.94, 60, 119.88];
    fc.assert(
      fc.property(
        fc.constantFrom(...rates),
        fc.integer({ min: 0, max: 5000 }),
        fc.nat(500),
        (frameRate, firstMs, n) => {
          const one = plan({ frameRate, durationMs: 2_000_000, keyframes: [firstMs] });
          const { num, den } = one.rate ?? { num: 1, den: 1 };
          const ticks = (frame: number): number => frame * den + one.phase;
          const first = firstFrame(one, n);
          expect(ticks(first)).to.be.at.least(2 * n * num);
          expect(ticks(first - 1)).to.be.lessThan(2 * n * num);
          const sound = firstAudioFrame(one, n);
          expect(sound * 1024).to.be.at.least(2 * n * 48_000);
          expect((sound - 1) * 1024).to.be.lessThan(2 * n * 48_000);
        },
      ),
    );
  });

  it('copies from keyframes at least 2 seconds apart', () => {
    expect(copyBoundaries([0, 400, 1999, 2000, 3900, 4100, 9000, 11_800], 12_000)).to.deep.equal([0, 2000, 4100, 9000]);
    expect(copyBoundaries([500, 2400, 2600], 60_000)).to.deep.equal([0, 2400]);
  });

  it('knows rates exactly', () => {
    expect(exactRate(23.976)).to.deep.equal({ num: 24_000, den: 1001 });
    expect(exactRate(29.97)).to.deep.equal({ num: 30_000, den: 1001 });
    for (const rate of [24, 25, 30, 50, 60]) expect(exactRate(rate).num / exactRate(rate).den).to.equal(rate);
    expect(exactRate(27.63).num / exactRate(27.63).den).to.equal(30);
    expect(phaseOf(21, { num: 24_000, den: 1001 })).to.equal(-497);
  });

  it('carries the level that holds the picture', () => {
    const level = ([width, height, frameRate]: [number, number, number]): number =>
      h264Level({ width, height, frameRate, bitrate: 1_000_000 });
    const pictures: [number, number, number][] = [
      [854, 480, 24],
      [1280, 720, 30],
      [1920, 1080, 30],
      [1920, 1080, 60],
      [3840, 2160, 30],
    ];
    expect(pictures.map(level)).to.deep.equal([30, 31, 40, 42, 51]);
  });
});

describe('playlists', () => {
  it('of ten hours are complete and identical every time', () => {
    const long = plan({ durationMs: 36_000_000 });
    const text = mediaPlaylist(long, 'v0');
    expect(text.match(/#EXTINF/g)?.length).to.equal(18_000);
    expect(mediaPlaylist(structuredClone(long), 'v0')).to.equal(text);
    expect(text.endsWith('segments/17999.m4s\n#EXT-X-ENDLIST\n')).to.equal(true);
  });

  it('of a film: the master', () => {
    const audio = (codec: string, language: string, isDefault: boolean) => ({
      ...{
        streamId: 'x',
        streamIndex: 1,
        action: 'copy' as const,
        sourceCodec: codec,
        codec,
        channels: 6,
        bitrate: 640_000,
      },
      ...{ language, title: 'A "quoted"\nname', default: isDefault },
    });
    const one = plan({
      startMs: 61_500,
      durationMs: 100_000,
      audio: [audio('ac3', 'en', false), audio('ac3', 'fr', true)],
    });
    expect(masterPlaylist(one)).to.equal(`#EXTM3U
#EXT-X-VERSION:7
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-START:TIME-OFFSET=61.500,PRECISE=YES
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="A  quoted  name",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="6",URI="a0/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="A  quoted  name (2)",LANGUAGE="fr",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="6",URI="a1/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=5397000,AVERAGE-BANDWIDTH=3822000,CODECS="avc1.64001f,ac-3",RESOLUTION=1280x720,FRAME-RATE=23.976,VIDEO-RANGE=SDR,AUDIO="audio"
v0/index.m3u8
`);
  });

  it('gives each track of a group its own name', () => {
    const audio = (title: string) => ({
      ...{ streamId: 'x', streamIndex: 1, action: 'encode' as const, sourceCodec: 'ac3', codec: 'aac', title },
      ...{ channels: 2, bitrate: 128_000, default: false },
    });
    const title = fc.constantFrom('A', 'A (2)', 'A (3)', 'A (3) (3)', 'A"', 'A\n', '', 'Track 2');
    fc.assert(
      fc.property(fc.array(title, { minLength: 1, maxLength: 8 }), (titles) => {
        const names = [...masterPlaylist(plan({ audio: titles.map(audio) })).matchAll(/NAME=("[^"]*")/g)];
        expect(names).to.have.length(titles.length);
        expect(new Set(names.map(([, name]) => name)), titles.join()).to.have.property('size', titles.length);
      }),
    );
  });

  it('names the kind of a sound that is copied', () => {
    const sound = (action: 'copy' | 'encode') => ({
      ...{ streamId: 'a', streamIndex: 1, action, sourceCodec: 'aac', codec: 'aac', channels: 2, bitrate: 64_000 },
      default: true,
    });
    const codecsOf = (action: 'copy' | 'encode') => {
      const { video: _none, ...options } = { ...plan(), video: undefined };
      const ids = { playbackSessionId: '', accountId: '', profileId: '', itemId: '', fileId: 'f' };
      const requested = { ...options, ...ids, audio: [sound(action)], subtitles: [] };
      return /CODECS="([^"]+)"/.exec(
        masterPlaylist(planOf(requested, { ...source, codecStrings: { 1: 'mp4a.40.5' } })),
      )?.[1];
    };
    expect([codecsOf('copy'), codecsOf('encode')]).to.deep.equal(['mp4a.40.5', 'mp4a.40.2']);
  });
});
