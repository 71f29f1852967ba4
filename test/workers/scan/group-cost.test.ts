import { expect } from 'chai';
import type { Grouping } from '#workers/scan/group/draft.ts';
import { draftsOf, groupDirectory } from '#workers/scan/group/index.ts';
import { mergeDrafts } from '#workers/scan/group/merge.ts';

interface Shape {
  type: string;
  within: string[];
  /** Files that each step adds to the folder. */
  add: (i: number) => string[];
}

const shapes: Readonly<Record<string, Shape>> = {
  'films in the folder of the library': { type: 'movies', within: [], add: (i) => [`Film ${i} (2001).mkv`] },
  'films with subtitles, pictures and an NFO each': {
    type: 'movies',
    within: ['Films'],
    add: (i) => [
      `Film.${i}.2001.mkv`,
      `Film.${i}.2001.en.srt`,
      `Film.${i}.2001.de.sub`,
      `Film.${i}.2001-poster.jpg`,
      `Film.${i}.2001.nfo`,
    ],
  },
  'films with a trailer each': {
    type: 'movies',
    within: ['Films'],
    add: (i) => [`Film ${i} (2001).mkv`, `Film ${i} (2001)-trailer.mkv`],
  },
  'versions of one film': {
    type: 'movies',
    within: ['Film (2001)'],
    add: (i) => [`Film (2001) - ${i}.mkv`, `Film (2001) - ${i}.en.srt`],
  },
  'extras of one film': { type: 'movies', within: ['Film (2001)', 'Extras'], add: (i) => [`Extra ${i}.mkv`] },
  'episodes in the folder of their show': {
    type: 'shows',
    within: ['Show'],
    add: (i) => [`Show S01E${i}.mkv`, `Show S01E${i}.en.srt`, `Show S01E${i}.jpg`],
  },
  'versions of one episode': { type: 'shows', within: ['Show'], add: (i) => [`Show S01E01 ${i}.mkv`] },
  'episodes of as many shows': { type: 'shows', within: [], add: (i) => [`Show number ${i} S01E01.mkv`] },
  videos: { type: 'videos', within: [], add: (i) => [`Clip ${i}.mkv`, `Clip ${i}.en.srt`] },
};

function grouping({ type, within, add }: Shape, count: number): Grouping {
  const names = Array.from({ length: count }, (_, i) => add(i)).flat();
  const files = names.map((name) => ({ name, size: 1, mtimeMs: 1, inode: name }));
  return { directory: within.join('/'), within, files, library: { type, mergeVersions: true } };
}

/** Milliseconds of the processor, the best of three. */
function cost(shape: Shape, count: number): number {
  const runs = Array.from({ length: 3 }, () => {
    const made = grouping(shape, count);
    const before = process.cpuUsage();
    const { drafts } = groupDirectory(made);
    mergeDrafts(drafts);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}

/** All time of some steps, and that of the longest one. */
function stepsOf(steps: Iterator<unknown>): [whole: number, longest: number] {
  let [whole, longest] = [0, 0];
  for (let done: boolean | undefined = false; !done; ) {
    const began = performance.now();
    done = steps.next().done;
    const took = performance.now() - began;
    whole += took;
    longest = Math.max(longest, took);
  }
  return [whole, longest];
}

const FEW = 1000;
const TIMES = 4;
/** Work per file stays the same: four times the files cost four times as much. A quadratic step costs sixteen times. */
const BOUND = 9;

describe('the cost of grouping a folder', function () {
  this.timeout(300_000);

  for (const [what, shape] of Object.entries(shapes)) {
    it(`is linear in ${what}`, () => {
      cost(shape, FEW); // compiles the code
      const [few, many] = [cost(shape, FEW), cost(shape, FEW * TIMES)];
      expect(many / few, `${few.toFixed()} ms, then ${many.toFixed()} ms`).to.be.below(BOUND);
    });
  }

  it('is taken in small steps for 20,000 films and episodes', () => {
    for (const what of ['films with subtitles, pictures and an NFO each', 'episodes in the folder of their show']) {
      const made = grouping(shapes[what] as Shape, 20_000);
      const [whole, longest] = stepsOf(draftsOf(made));
      expect(longest, `${what}: of ${whole.toFixed()} ms`).to.be.below(Math.max(60, whole / 8));
    }
  });

  it('is bounded for 50,000 films in one folder', () => {
    const { drafts } = groupDirectory(
      grouping(shapes['films with subtitles, pictures and an NFO each'] as Shape, 50_000),
    );
    const films = drafts.flatMap((draft) => draft.files);
    expect(films).to.have.length(50_000);
    expect(films.every(({ tracks }) => tracks.length === 2)).to.equal(true);
  });
});
