import { platformOfExtension, platformOfFolder } from '#platform/game-platforms.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { tidy, titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';

interface Rom {
  file: WalkedFile;
  title: string;
  /** Bracketed words of the name, without the disc: region, languages, revision. */
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
    const rom = readRom(file);
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

const DISC = /^dis[ck] (\d{1,2})(?: of \d{1,2})?$/i;

/** `Title (Region) (Rev 1) (Disc 2)`, as No-Intro and Redump name them. */
function readRom(file: WalkedFile): Rom {
  const { stem } = splitName(file.name);
  const open = stem.search(/[([]/);
  const words = open < 0 ? [] : bracketed(stem.slice(open));
  const disc = words.map((word) => DISC.exec(word)?.[1]).find((number) => number !== undefined);
  return {
    file,
    title: tidy(open > 0 ? stem.slice(0, open) : stem) || stem,
    edition: words.filter((word) => !DISC.test(word)).join(', '),
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
