// Cells of the grid and of the table, made and painted without Svelte. Their style is in cells.css, since a scoped rule
// never reaches them.

import { averageColour, blurredPicture } from '#core/geometry/blurhash.ts';
import { artFor, type Pictured, sourcesOf } from '#core/look/pictures.ts';
import * as m from '#messages/library.ts';
import { type IconName, icons } from '#ui/icons.ts';
import { tileOf } from '#ui/tint.ts';
import './cells.css';
import { dateText, lengthText } from '#features/item/words.ts';
import type { Listed } from './listing.svelte.ts';

export interface Painted {
  item: Listed | undefined;
  /** The name of the bucket, while the item is not there. */
  label: string;
  selected: boolean;
  /** Items are being selected: each cell shows whether it is. */
  selecting: boolean;
  /** In the viewport: its picture is requested before those of other cells. */
  inSight: boolean;
}

const element = (tag: string, name: string): HTMLElement => {
  const made = document.createElement(tag);
  made.className = name;
  return made;
};

const SVG = 'http://www.w3.org/2000/svg';

function icon(name: IconName, size: number): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', width: size, height: size, 'aria-hidden': true }))
    svg.setAttribute(key, String(value));
  svg.classList.add('fy-icon');
  for (const data of icons[name]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', data);
    svg.append(path);
  }
  return svg;
}

const CARD_WIDTH = 180;
const TILE_WIDTH = 24;

function makePicture(): HTMLImageElement {
  const picture = element('img', 'fy-picture') as HTMLImageElement;
  picture.alt = '';
  picture.decoding = 'async';
  picture.loading = 'lazy';
  picture.draggable = false;
  picture.hidden = true;
  picture.addEventListener('error', () => {
    picture.hidden = true;
  });
  return picture;
}

const part = (cell: HTMLElement, name: string): HTMLElement => cell.querySelector(`.${name}`) as HTMLElement;

/** Shows a picture over the tile; the former picture of a recycled cell is gone at once, and its request ends. */
function paintPicture(cell: HTMLElement, { item, inSight }: Painted, width: number): void {
  const picture = part(cell, 'fy-picture') as HTMLImageElement;
  const image: Pictured | undefined = item && artFor(item.artwork, 'poster');
  const key = image ? `${image.id} ${image.version}` : '';
  if (picture.dataset.key === key) return;
  picture.dataset.key = key;
  picture.hidden = !image;
  picture.removeAttribute('srcset');
  picture.removeAttribute('src');
  if (!image) return;
  const blur = blurredPicture(image.blurhash);
  picture.style.backgroundColor = averageColour(image.blurhash) ?? '';
  picture.style.backgroundImage = blur ? `url(${blur})` : '';
  const { src, srcset } = sourcesOf(image, width);
  picture.fetchPriority = inSight ? 'high' : 'low';
  if (srcset) picture.srcset = srcset;
  picture.src = src;
}

export function makeCard(): HTMLElement {
  const cell = element('div', 'fy-cell');
  const link = element('a', 'fy-card');
  const art = element('span', 'fy-art');
  const track = element('span', 'fy-track');
  track.append(element('span', 'fy-done'), element('span', 'fy-part unseen'));
  const name = element('span', 'fy-name');
  name.ariaHidden = 'true';
  art.append(name, makePicture(), element('span', 'fy-mark'), track);
  link.append(element('span', 'fy-title'), element('span', 'fy-line'), art); // in the order of its name; the art is drawn first
  cell.append(link);
  return cell;
}

/** One grey line under a title. */
export function lineOf({
  type,
  year,
  childCount,
  parentIndex,
  index,
  grandparentTitle,
  artists,
  authors,
}: Listed): string {
  if (type === 'episode')
    return [grandparentTitle, m.episodeNumber({ season: parentIndex ?? 0, episode: index ?? 0 })]
      .filter(Boolean)
      .join(' · ');
  const who = (artists ?? authors ?? []).map(({ name }) => name).join(', ');
  if (who) return who;
  if (type === 'season') return m.episodes({ count: childCount ?? 0 });
  return year === undefined ? '' : String(year);
}

type Mark = { icon: IconName; label: string } | { count: number; label: string };

export function markOf({ availability, unwatchedCount, userState, type }: Listed): Mark | undefined {
  if (availability) return { icon: 'cloudOff', label: availability === 'missing' ? m.missing() : m.unavailable() };
  if (userState.watched) return { icon: 'check', label: m.watched() };
  if (unwatchedCount && type !== 'movie')
    return { count: unwatchedCount, label: m.unwatchedCount({ count: unwatchedCount }) };
  return undefined;
}

/** A text for screen readers alone. */
function hiddenLabel(text: string): HTMLElement {
  const made = element('span', 'unseen');
  made.textContent = text;
  return made;
}

/** A text that another one says better. */
function hiddenText(text: string | number): HTMLElement {
  const made = element('span', '');
  made.ariaHidden = 'true';
  made.textContent = String(text);
  return made;
}

function paintMark(mark: HTMLElement, { item, selected, selecting }: Painted): void {
  const shown = item ? markOf(item) : undefined;
  const state = selecting ? `select ${selected}` : shown ? JSON.stringify(shown) : '';
  if (mark.dataset.state === state) return;
  mark.dataset.state = state;
  mark.hidden = state === '';
  mark.className = `fy-mark${selecting ? ' fy-choice' : ''}${!selecting && shown && 'count' in shown ? ' fy-count' : ''}${selecting && selected ? ' fy-chosen' : ''}`;
  if (selecting) mark.replaceChildren(...(selected ? [icon('check', 16)] : []));
  else if (shown)
    mark.replaceChildren('count' in shown ? hiddenText(shown.count) : icon(shown.icon, 16), hiddenLabel(shown.label));
}

export function paintCard(cell: HTMLElement, painted: Painted): void {
  const { item, label, selected, selecting } = painted;
  const link = cell.firstElementChild as HTMLAnchorElement;
  cell.toggleAttribute('aria-selected', false);
  if (selecting) cell.setAttribute('aria-selected', String(selected));
  cell.classList.toggle('fy-selected', selected && selecting);
  cell.classList.toggle('fy-waiting', !item);
  paintMark(part(cell, 'fy-mark'), painted);
  const progress = item && !item.userState.watched ? item.userState.progress : 0;
  part(cell, 'fy-track').hidden = progress <= 0;
  part(cell, 'fy-done').style.inlineSize = `${Math.min(100, progress * 100)}%`;
  part(cell, 'fy-name').textContent = item ? item.title : label;
  part(cell, 'fy-title').textContent = item?.title ?? '';
  part(cell, 'fy-line').textContent = item ? lineOf(item) : '';
  part(cell, 'fy-art').style.background = item ? tileOf(item.id) : '';
  paintPicture(cell, painted, CARD_WIDTH);
  part(cell, 'fy-part').textContent = m.percent({ percent: Math.round(progress * 100) });
  paintLink(link, item, label);
}

/** Until its item arrives, a cell is named by its bucket and leads nowhere. */
function paintLink(link: HTMLAnchorElement, item: Listed | undefined, label: string): void {
  if (item) {
    link.href = `/item/${item.id}`;
    link.removeAttribute('aria-label');
  } else {
    link.removeAttribute('href');
    link.setAttribute('aria-label', label || m.loading());
  }
}

/** Columns of the table, in order; narrow pages show the first ones. */
export const columns = {
  year: ({ year }: Listed) => (year === undefined ? '' : String(year)),
  length: ({ runtimeMs }: Listed) => (runtimeMs ? lengthText(runtimeMs) : ''),
  rating: ({ rating }: Listed) => rating?.toFixed(1) ?? '',
  added: ({ addedAt }: Listed) => (addedAt ? dateText(addedAt) : ''),
  released: ({ releasedOn }: Listed) => (releasedOn ? dateText(releasedOn) : ''),
  age: ({ ageRating }: Listed) => ageRating ?? '',
  resolution: ({ resolution }: Listed) => resolution?.toUpperCase() ?? '',
} as const;

export function makeLine(): HTMLElement {
  const cell = element('div', 'fy-cell fy-record');
  const link = element('a', 'fy-link');
  const tile = element('span', 'fy-tile');
  tile.append(makePicture());
  link.append(tile, element('span', 'fy-title'));
  cell.append(
    link,
    ...Object.keys(columns).map((name) => element('span', `fy-value fy-${name}`)),
    element('span', 'fy-mark'),
  );
  return cell;
}

export function paintLine(cell: HTMLElement, painted: Painted): void {
  const { item, label, selected, selecting } = painted;
  const link = cell.firstElementChild as HTMLAnchorElement;
  cell.classList.toggle('fy-selected', selected && selecting);
  if (selecting) cell.setAttribute('aria-selected', String(selected));
  else cell.removeAttribute('aria-selected');
  cell.classList.toggle('fy-waiting', !item);
  paintMark(part(cell, 'fy-mark'), painted);
  part(cell, 'fy-tile').style.background = item ? tileOf(item.id) : '';
  paintPicture(cell, painted, TILE_WIDTH);
  part(cell, 'fy-title').textContent = item?.title ?? label;
  for (const [name, text] of Object.entries(columns)) part(cell, `fy-${name}`).textContent = item ? text(item) : '';
  paintLink(link, item, label);
}
