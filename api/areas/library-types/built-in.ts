import { defaultSettings } from '#areas/libraries/public.ts';
import type { OwnLevel } from '#platform/own-types.ts';
import { type Base, bases } from './bases.ts';
import { matchLevels } from './levels.ts';
import type { NamingRule, TypeLevel, TypeViews } from './library-types.schemas.ts';
import type { TypeRules } from './library-types.store.ts';

/** The types that this program reads by itself, as records like those of the owner. */
export interface BuiltIn extends TypeRules {
  key: Base;
  name: string;
  plural: string;
  base: Base;
}

type Poster = TypeLevel['poster'];
/** `type|name|plural|role|poster|from`, a number sign where it is numbered. */
type Line = readonly [line: string, poster: Poster];

interface Brief {
  names: readonly [name: string, plural: string];
  levels: readonly Line[];
  naming: readonly (readonly [pattern: string, sample: string, on: NamingRule['on']])[];
  layout: TypeViews['layout'];
  sort?: string;
}

const briefs: Readonly<Record<Base, Brief>> = {
  movies: {
    names: ['Films', 'Films'],
    levels: [['movie|Film|Films|playable|file', 'portrait']],
    naming: [
      ['{title} ({year})[ - {edition}][ - cd{part}]', 'Nosferatu (1922) - Restored', 'name'],
      ['{title}', 'Nosferatu', 'name'],
    ],
    layout: 'posters',
  },
  shows: {
    names: ['Shows', 'Shows'],
    levels: [
      ['show|Show|Shows|container|pattern', 'portrait'],
      ['season|Season|Seasons|container|pattern|#', 'portrait'],
      ['episode|Episode|Episodes|playable|file|#', 'landscape'],
    ],
    naming: [
      ['{grandparent}/{*}/{*}S{index2}E{index}[ - {title}]', 'The Lodge/Season 1/The Lodge S01E02 - Snow', 'path'],
      ['{grandparent}/{*}S{index2}E{index}[ - {title}]', 'The Lodge/The Lodge S01E02 - Snow', 'path'],
    ],
    layout: 'posters',
  },
  videos: {
    names: ['Videos', 'Videos'],
    levels: [['video|Video|Videos|playable|file', 'landscape']],
    naming: [['{title}', 'Garden in June', 'name']],
    layout: 'landscape',
  },
  music: {
    names: ['Music', 'Music'],
    levels: [
      ['artist|Artist|Artists|container|pattern', 'square'],
      ['album|Album|Albums|container|pattern', 'square'],
      ['track|Track|Tracks|playable|file|#', 'square'],
    ],
    naming: [['{grandparent}/{parent}/{index} - {title}', 'Portishead/Dummy/01 - Mysterons', 'path']],
    layout: 'squares',
    sort: 'title',
  },
  photos: {
    names: ['Photos', 'Photos'],
    levels: [
      ['photo-album|Album|Albums|container|folder', 'square'],
      ['photo|Photo|Photos|viewable|file', 'square'],
    ],
    naming: [['{title}', 'IMG_20240131_101500', 'name']],
    layout: 'photos',
    sort: '-takenAt',
  },
  books: {
    names: ['Books', 'Books'],
    levels: [
      ['author|Author|Authors|container|pattern', 'portrait'],
      ['book|Book|Books|readable|file', 'portrait'],
    ],
    naming: [
      ['{parent}/{title}[ ({year})]', 'Jane Austen/Emma (1815)', 'path'],
      ['{parent} - {title}', 'Jane Austen - Emma', 'name'],
    ],
    layout: 'posters',
  },
  comics: {
    names: ['Comics', 'Comics'],
    levels: [
      ['comic-series|Series|Series|container|pattern', 'portrait'],
      ['comic|Comic|Comics|readable|file|#', 'portrait'],
    ],
    naming: [['{parent} {index}[ ({year})]', 'Saga 012 (2013)', 'name']],
    layout: 'posters',
  },
  games: {
    names: ['Games', 'Games'],
    levels: [['game|Game|Games|file|file', 'portrait']],
    naming: [['{title}[ ({edition})]', 'Tetris (World)', 'name']],
    layout: 'posters',
  },
  courses: {
    names: ['Courses', 'Courses'],
    levels: [
      ['course|Course|Courses|container|folder', 'landscape'],
      ['section|Section|Sections|container|folder|#', 'landscape'],
      ['lesson|Lesson|Lessons|playable|file|#', 'landscape'],
    ],
    naming: [['{grandparent}/{parent}/{index} - {title}', 'Knots/1 Basics/02 - Bowline', 'path']],
    layout: 'landscape',
  },
  files: {
    names: ['Files', 'Files'],
    levels: [['custom:file|File|Files|file|file', 'square']],
    naming: [['{title}', 'Manual of the boiler', 'name']],
    layout: 'list',
  },
};

function levelOf([line, poster]: Line): TypeLevel {
  const [itemType = '', name = '', plural = '', role = '', from = '', mark] = line.split('|');
  return { itemType, name, plural, role, poster, numbered: mark === '#', from } as TypeLevel;
}

function builtInOfBase(base: Base): BuiltIn {
  const { names, levels, naming, layout, sort = 'title' } = briefs[base];
  const { agents, previewThumbnails, introDetection, creditsDetection, voiceActivity } = defaultSettings(base, {
    language: 'en',
    country: null,
  });
  return {
    key: base,
    base,
    name: names[0],
    plural: names[1],
    levels: levels.map(levelOf),
    files: {
      extensions: [],
      sidecars: ['subtitle', 'artwork', 'nfo', 'lyrics'],
      ignore: [],
      versions: true,
      parts: true,
    },
    naming: naming.map(([pattern, sample, on]) => ({ pattern, sample, on })),
    agents,
    fieldKeys: [],
    analyses: { previewThumbnails, introDetection, creditsDetection, voiceActivity, sonic: base === 'music' },
    views: {
      defaultSort: sort,
      sorts: ['title', 'addedAt', 'releasedOn', 'year', 'rating', 'random'],
      layout,
      columns: ['title', 'year', 'added_at'],
      childOrder: 'index',
      resume: !['photos', 'games', 'files'].includes(base),
      reading: 'ltr',
    },
  };
}

export const builtIns: readonly BuiltIn[] = bases.map(builtInOfBase);

/** The built-in type of this key. */
export function builtInOf(key: string): BuiltIn | undefined {
  return builtIns.find((one) => one.key === key);
}

/** The levels of a built-in type as libraries keep them: only plain files have a name of their own. */
export function builtInLevels({ base, levels }: BuiltIn): readonly OwnLevel[] {
  return matchLevels(base, levels).own;
}
