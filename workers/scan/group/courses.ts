import { present } from '#workers/present.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { tidy } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { artworkOf, draftFile, inside } from './local.ts';

interface Numbered {
  number?: number;
  title: string;
}

const NUMBER =
  /^(?:\[|(?:section|module|m[oó]dulo|chapter|part|week|unit|lesson|lecture|lec|episode|day|kapitel|lektion)[\s._-]{0,3})?(\d{1,3})(?:\.(\d{1,3}))?(?=$|[\s._)\]:-])[\s._)\]:-]{0,4}/i;
/** Lesson 3.12 comes after 3.9. */
const SECOND_STEP = 1000;

/** A leading number and what follows: `03 - Loops`, `Module 2. Types`, `1.10 Intro`. */
function readNumbered(name: string): Numbered {
  const found = NUMBER.exec(name);
  const rest = tidy(found ? name.slice(found[0].length) : name);
  const title = rest || tidy(name) || name;
  if (!found) return { title };
  const [, first, second] = found;
  return { number: second === undefined ? Number(first) : Number(first) * SECOND_STEP + Number(second), title };
}

/**
 * Course, section and lessons of one directory: the first folder is the course, and the folders below are joined into
 * one section. Lessons without a number follow by name.
 */
export function* groupCourses(grouping: Grouping): Drafting {
  const lessons = grouping.files.filter(({ name }) => isMedia(grouping.library.type, name));
  const [course, ...folders] = grouping.within;
  if (lessons.length === 0) return [];
  if (course === undefined) return lessons.map(({ name }) => name);
  yield courseDraft(grouping, course);
  yield sectionDraft(course, folders);
  for (const file of lessons) yield lessonDraft(grouping, file);
  return [];
}

const courseKey = (course: string): ItemKey => ({ type: 'course', key: `c:${course}` });
const sectionKey = (course: string, folders: readonly string[]): ItemKey => ({
  type: 'section',
  key: `s:${[course, ...folders].join('/')}`,
});

function courseDraft(grouping: Grouping, course: string): Draft {
  const isOwn = grouping.within.length === 1;
  return {
    ...courseKey(course),
    top: true,
    title: tidy(course) || course,
    ids: {},
    artwork: isOwn ? artworkOf(grouping, '', true) : {},
    files: [],
  };
}

function sectionDraft(course: string, folders: readonly string[]): Draft {
  const named = folders.map(readNumbered);
  const [first] = named;
  return {
    ...sectionKey(course, folders),
    parent: courseKey(course),
    top: false,
    title: named.map(({ title }) => title).join(' / ') || tidy(course) || course,
    ...present({ index: folders.length === 0 ? 0 : first?.number }),
    ids: {},
    artwork: {},
    files: [],
  };
}

function lessonDraft(grouping: Grouping, file: WalkedFile): Draft {
  const [course = '', ...folders] = grouping.within;
  const { number, title } = readNumbered(splitName(file.name).stem);
  const section = folders.length === 0 ? 0 : readNumbered(folders[0] ?? '').number;
  return {
    type: 'lesson',
    key: `p:${inside(grouping.directory, file.name)}`,
    parent: sectionKey(course, folders),
    grandparent: courseKey(course),
    top: false,
    title,
    ...present({ index: number, parentIndex: section }),
    ids: {},
    artwork: artworkOf(grouping, file.name, false),
    files: [draftFile(grouping, file.name, { rank: 0 })],
  };
}
