import { expect } from 'chai';
import { type AnalysedPlace, newAnalysedPlace } from './support.ts';

const TEXT = 'drawbox=x=100:y=t*4:w=60:h=6:color=white:t=fill:replace=1';

/** Light until `start`, then light words on black to the end, with a keyframe every four seconds. */
const film = (seconds: number, start: number): string[] => [
  ...['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=10:duration=${start}`],
  ...['-f', 'lavfi', '-i', `color=black:size=320x180:rate=10:duration=${seconds - start}`],
  ...['-filter_complex', `[1]${TEXT}[words];[0][words]concat=n=2`],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '40', '-sc_threshold', '0'],
];

describe('analysis.credits', function () {
  this.timeout(120_000);
  let place: AnalysedPlace;
  before(async () => {
    place = await newAnalysedPlace('movies', { previewThumbnails: false, voiceActivity: false });
    await place.film('Ends (2001)/Ends (2001).mkv', film(200, 163.4));
    await place.film('Bright (2002)/Bright (2002).mkv', film(120, 118));
    await place.scan();
  });

  const markers = async (title: string) =>
    place.api.deps
      .db('markers')
      .where({ file_id: await place.fileId(title) })
      .select('kind', 'start_ms', 'end_ms', 'source');

  it('finds the second at which the picture turns to credits, between two keyframes', async () => {
    await place.analyse();
    const [marker] = await markers('Ends');
    expect(marker).to.include({ kind: 'credits', source: 'analysis' });
    expect(marker.start_ms).to.be.closeTo(163_400, 300);
    expect(marker.end_ms).to.be.closeTo(200_000, 1100);
  });

  it('takes two black seconds for no credits', async () => {
    expect(await markers('Bright')).to.deep.equal([]);
    expect((await place.states('creditsDetection')).sort()).to.deep.equal(['done', 'not-found']);
  });

  it('marks credits that a chapter names at once, without reading the file', async () => {
    const { db } = place.api.deps;
    const fileId = await place.fileId('Bright');
    await db('analyses').where({ file_id: fileId }).delete();
    const chapter = { file_id: fileId, source: 'file' };
    await db('chapters').insert([
      { ...chapter, number: 1, title: 'Opening', start_ms: 0, end_ms: 9000 },
      { ...chapter, number: 2, title: ' END CREDITS ', start_ms: 100_000, end_ms: 120_000 },
    ]);
    const { body } = await place.admin.analyzeLibrary({ params: { id: place.libraryId } });
    expect(body).to.include({ creditsFromChapters: 1 });
    expect(await markers('Bright')).to.deep.equal([
      { kind: 'credits', start_ms: 100_000, end_ms: 120_000, source: 'chapters' },
    ]);
    expect(await place.states('creditsDetection')).to.deep.equal(['done', 'done']);
  });
});
