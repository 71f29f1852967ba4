import { expect } from 'chai';
import { livePlaylist, windowOf } from '#areas/live-tv/watching/playlist.ts';
import { type LiveSegment, parseSegmentName, segmentName } from '#platform/live/segments.ts';

const STREAM = '01977c2e-5a00-7b91-8434-0edb22b3b0a8';
const START = Date.UTC(2026, 10, 27, 20);

/** Segments of four seconds with these numbers; a number with `!` follows an interruption of a minute. */
function segments(...numbers: (number | `${number}!`)[]): LiveSegment[] {
  let discontinuity = 3;
  let shift = 0;
  return numbers.map((number) => {
    const sequence = Number.parseInt(String(number), 10);
    if (typeof number === 'string') {
      discontinuity += 1;
      shift += 60_000;
    }
    const startMs = START + sequence * 4000 + shift;
    return { sequence, startMs, durationMs: 4000, bytes: 1000, epoch: 1, discontinuity, streamId: STREAM };
  });
}

const FULL = { window: 'full', skip: false } as const;
const linesOf = (list: LiveSegment[], more: object = {}): string[] =>
  livePlaylist(list, { ...FULL, ...more }).split('\n');

describe('playlists of live television', () => {
  it('slide by the numbers of the stream, with dates and interruptions', () => {
    const lines = linesOf(segments(10, 11, '12!'), { ticket: 'a b' });
    expect(lines).to.include.members([
      '#EXT-X-MEDIA-SEQUENCE:10',
      '#EXT-X-DISCONTINUITY-SEQUENCE:3',
      '#EXT-X-TARGETDURATION:4',
      '#EXT-X-PROGRAM-DATE-TIME:2026-11-27T20:00:40.000Z',
      'segments/10.ts?ticket=a+b',
    ]);
    const at = lines.indexOf('#EXT-X-DISCONTINUITY');
    expect(lines[at + 3]).to.equal('segments/12.ts?ticket=a+b');
    expect(lines.filter((line) => line === '#EXT-X-DISCONTINUITY')).to.have.length(1);
  });

  it('keep the place of a missing segment, and start over after many', () => {
    const lines = linesOf(segments(10, 13));
    expect(lines.filter((line) => line === '#EXT-X-GAP')).to.have.length(2);
    expect(lines.filter((line) => line.startsWith('segments/'))).to.deep.equal(
      [10, 11, 12, 13].map((number) => `segments/${number}.ts`),
    );
    expect(windowOf(segments(10, 11, 5000, 5001), 'full').map(({ sequence }) => sequence)).to.deep.equal([5000, 5001]);
  });

  it('leave out what the player knows, and segments outside a short window', () => {
    const many = segments(...Array.from({ length: 50 }, (_, at) => at + 100));
    const lines = linesOf(many, { skip: true });
    expect(lines).to.include.members(['#EXT-X-VERSION:9', '#EXT-X-SKIP:SKIPPED-SEGMENTS=44']);
    expect(lines.filter((line) => line.startsWith('segments/'))[0]).to.equal('segments/144.ts');
    expect(windowOf(many, 'short').map(({ sequence }) => sequence)).to.have.length(8);
  });

  it('start where the session does', () => {
    const startMs = START + 11 * 4000 + 1500;
    expect(linesOf(segments(10, 11, 12), { startMs })).to.include('#EXT-X-START:TIME-OFFSET=5.500,PRECISE=YES');
  });

  it('are made of names with every fact', () => {
    const [segment] = segments(12);
    expect(parseSegmentName(segmentName(segment as LiveSegment))).to.deep.equal(segment);
    expect(parseSegmentName('0000000012.ts')).to.equal(undefined);
  });
});
