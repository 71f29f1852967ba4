import { platformOfExtension, platformOfFolder } from '#platform/game-platforms.ts';
import { present } from '#workers/present.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { tidy, titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';

interface Rom {
  file: WalkedFile;
  title: string;
  year: number | undefined;
  /** Bracketed words of the name, without year and disc: region, languages, revision. */
  edition: string;
  disc: number | undefined;
}

/** Games of one directory; the files of a title are its regions and discs. */
export function* groupGames(grouping: Grouping): Drafting {
  const unrecognised: string[] = [];
  const games = new Map<string, Rom[]>();
  const listed = new Set(grouping.files.map(({ name }) => name.toLowerCase()));
  for (const file of grouping.files) {
    yield;
    if (!isMedia(grouping.library.type, file.name) || isPart(file.name, listed)) continue;
    const platform = platformOf(grouping, file.name);
    if (!platform) {
      unrecognised.push(file.name);
      continue;
    }
    const rom = readRom(file, ownFolder(grouping));
    const key = `${platform}|${titleKey(rom.title)}`;
    games.set(key, [...(games.get(key) ?? []), rom]);
  }
  for (const [key, roms] of games) yield gameDraft(grouping, key, roms);
  return unrecognised;
}

/** The track of a disc whose sheet is there too. */
function isPart(name: string, listed: ReadonlySet<string>): boolean {
  const { stem, extension } = splitName(name.toLowerCase());
  if (!['bin', 'img', 'iso'].includes(extension)) return false;
  const sheet = stem.replace(/ \(track \d{1,2}\)$/, '');
  return ['cue', 'ccd', 'gdi'].some((one) => listed.has(`${sheet}.${one}`));
}

/** Name of the platform: by a folder above the file, the nearest first, else by an extension that only one has. */
function platformOf({ within }: Grouping, name: string): string | undefined {
  const folder = within.toReversed().flatMap((one) => platformOfFolder(one) ?? [])[0];
  return (folder ?? platformOfExtension(splitName(name).extension))?.name;
}

/** The folder of a game that is alone in it: files such as `doom.wad` are named by programs. */
function ownFolder({ within, files, library }: Grouping): string | undefined {
  const folder = within.at(-1);
  const isAlone = files.filter(({ name }) => isMedia(library.type, name)).length === 1;
  return folder !== undefined && isAlone && !platformOfFolder(folder) && folder.search(IN_BRACKETS) > 0
    ? folder
    : undefined;
}

const IN_BRACKETS = /[([](?:19[6-9]|20\d)\d[)\]]/;
const DISC = /^dis[ck] (\d{1,2})(?: of \d{1,2})?$/i;
const YEAR = /^(?:19[6-9]|20\d)\d$/;
/** TOSEC puts the version behind the title. */
const VERSION = / v\d{1,3}\.[\d.a-z]{1,10}$/i;
/** No-Intro puts an article behind the first part of a title. */
const ARTICLE = /^([^,]{1,120}), (The|A|An|Le|La|Les|Der|Die|Das|Il|El|Los|Las)(?= - |$)/;

/** `Title (Region) (Rev 1) (Disc 2)`, as No-Intro and Redump name them, or `Title v1.0 (1991)(Publisher)`, as TOSEC does. */
function readRom(file: WalkedFile, folder: string | undefined): Rom {
  const stem = folder ?? splitName(file.name).stem;
  const open = stem.search(/[([]/);
  const words = open < 0 ? [] : bracketed(stem.slice(open));
  const disc = words.map((word) => DISC.exec(word)?.[1]).find((number) => number !== undefined);
  const bare = (open > 0 ? stem.slice(0, open) : stem).trim();
  const year = words.find((word) => YEAR.test(word));
  return {
    file,
    title: tidy(bare.replace(VERSION, '').replace(ARTICLE, '$2 $1')) || stem,
    year: year === undefined ? undefined : Number(year),
    edition: words.filter((word) => !DISC.test(word) && word !== year).join(', '),
    disc: disc === undefined ? undefined : Number(disc),
  };
}

function bracketed(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const sign of text) {
    if ('(['.includes(sign)) word = '';
    else if (')]'.includes(sign)) {
      if (word !== undefined && word !== '') words.push(word);
      word = undefined;
    } else if (word !== undefined) word += sign;
  }
  return words;
}

function gameDraft(grouping: Grouping, key: string, roms: readonly Rom[]): Draft {
  const [first] = roms as readonly [Rom];
  const [platform = ''] = key.split('|');
  const editions = [...Map.groupBy(roms, ({ edition }) => edition).entries()];
  return {
    type: 'game',
    key: `${key}|${inside(grouping.directory, '')}`,
    top: true,
    title: first.title,
    ...present({ year: roms.map(({ year }) => year).find((year) => year !== undefined) }),
    ids: {},
    details: { platform },
    artwork: artworkOf(grouping, first.file.name, roms.length === grouping.files.length),
    files: editions.flatMap(([edition, own], rank) => {
      const discs = own.toSorted((a, b) => (a.disc ?? 0) - (b.disc ?? 0));
      return discs.map(({ file, disc }) =>
        draftFile(grouping, file.name, {
          rank,
          ...(edition !== '' && { edition }),
          ...(discs.length > 1 && disc !== undefined && { part: disc, parts: discs.length }),
        }),
      );
    }),
  };
}
