// The values of foyer-dark and foyer-light, the bases of every other theme.
import type { Group, Kind, ShadowLayer, TokenValue } from './kinds.ts';

interface SchemeRow {
  name: string;
  label: string;
  dark: TokenValue;
  light: TokenValue;
  /** Default: color. */
  kind?: Kind;
  /** Default: color. */
  group?: Group;
}

/** `L C H / A` of oklch. */
function color([name, label]: [string, string], dark: string, light: string): SchemeRow {
  return { name: `color.${name}`, label, dark: `oklch(${dark})`, light: `oklch(${light})` };
}

const layer = (y: number, blur: number, alpha: string): ShadowLayer => ({
  x: '0px',
  y: `${y}px`,
  blur: `${blur}px`,
  spread: '0px',
  color: `#000000${alpha}`,
});

function shadow([name, label]: [string, string], dark: ShadowLayer[], light: ShadowLayer[]): SchemeRow {
  return { name: `shadow.${name}`, label, dark, light, kind: 'shadow', group: 'shape' };
}

/** Backgrounds of items without a picture, which carry their title: evenly spaced hues of one lightness. */
function tiles(): SchemeRow[] {
  return Array.from({ length: 12 }, (_, i) => {
    const hue = (25 + i * 30) % 360;
    return color([`tile.${i + 1}`, `Tile ${i + 1} of items without a picture`], `0.36 0.06 ${hue}`, `0.86 0.05 ${hue}`);
  });
}

/** Tokens that may differ between light and dark. */
export const lightAndDark: readonly SchemeRow[] = [
  color(['surface.0', 'Page'], '0.16 0.008 265', '0.985 0.003 265'),
  color(['surface.1', 'Card'], '0.2 0.01 265', '1 0 0'),
  color(['surface.2', 'Raised'], '0.245 0.012 265', '0.955 0.005 265'),
  color(['surface.3', 'Pressed'], '0.29 0.014 265', '0.92 0.007 265'),
  color(['text.primary', 'Text'], '0.965 0.004 265', '0.2 0.012 265'),
  color(['text.secondary', 'Text, second line'], '0.8 0.012 265', '0.4 0.014 265'),
  color(['text.muted', 'Text, quiet'], '0.68 0.014 265', '0.5 0.014 265'),
  color(['text.disabled', 'Text of disabled controls'], '0.5 0.012 265', '0.65 0.012 265'),
  color(['line', 'Lines'], '0.34 0.014 265', '0.88 0.008 265'),
  color(['edge', 'Borders of controls'], '0.58 0.018 265', '0.6 0.015 265'),
  color(['accent', 'Accent'], '0.78 0.13 75', '0.505 0.115 60'),
  color(['accent.hover', 'Accent, hovered'], '0.84 0.12 78', '0.45 0.105 58'),
  color(['accent.pressed', 'Accent, pressed'], '0.73 0.125 72', '0.4 0.095 58'),
  color(['accent.on', 'On the accent'], '0.19 0.03 75', '1 0 0'),
  color(['accent.soft', 'Accent as a tint'], '0.78 0.13 75 / 0.16', '0.505 0.115 60 / 0.12'),
  color(['focus', 'Focus ring'], '0.88 0.11 80', '0.5 0.17 265'),
  color(['ok', 'All is well'], '0.78 0.14 155', '0.49 0.115 155'),
  color(['ok.on', 'On all is well'], '0.19 0.03 155', '1 0 0'),
  color(['warn', 'Warning'], '0.82 0.14 90', '0.5 0.1 80'),
  color(['warn.on', 'On a warning'], '0.19 0.03 90', '1 0 0'),
  color(['danger', 'Danger'], '0.7 0.17 25', '0.52 0.19 27'),
  color(['danger.on', 'On danger'], '0.16 0.03 25', '1 0 0'),
  color(['info', 'Hint'], '0.76 0.1 240', '0.5 0.12 245'),
  color(['info.on', 'On a hint'], '0.19 0.03 240', '1 0 0'),
  color(['link', 'Links'], '0.78 0.13 75', '0.505 0.115 60'),
  color(['hover', 'Veil on hovered controls'], '1 0 0 / 0.06', '0 0 0 / 0.05'),
  color(['selected', 'Veil on selected controls'], '0.78 0.13 75 / 0.16', '0.505 0.115 60 / 0.12'),
  color(['selection', 'Selected text'], '0.78 0.13 75 / 0.35', '0.505 0.115 60 / 0.25'),
  color(['field', 'Fields'], '0.2 0.01 265', '1 0 0'),
  color(['skeleton', 'Placeholder while loading'], '0.245 0.012 265', '0.955 0.005 265'),
  color(['scrim', 'Under text on art'], '0.12 0.008 265 / 0.72', '0.12 0.008 265 / 0.62'),
  color(['veil', 'Behind dialogs'], '0.1 0.008 265 / 0.7', '0.2 0.008 265 / 0.5'),
  color(['art.text', 'Text on art'], '0.965 0.004 265', '0.965 0.004 265'),
  color(['badge', 'Counts on art'], '0.78 0.13 75', '0.505 0.115 60'),
  color(['badge.on', 'On counts'], '0.19 0.03 75', '1 0 0'),
  color(['live', 'Live'], '0.7 0.17 25', '0.52 0.19 27'),
  color(['rating', 'Stars'], '0.82 0.14 90', '0.5 0.1 80'),
  color(['progress', 'Progress'], '0.78 0.13 75', '0.505 0.115 60'),
  color(['progress.track', 'Progress, the rest'], '1 0 0 / 0.3', '1 0 0 / 0.6'),
  ...tiles(),
  color(['scrollbar', 'Scroll bars'], '0.42 0.012 265', '0.74 0.012 265'),
  color(['tooltip', 'Tips'], '0.29 0.014 265', '0.2 0.012 265'),
  color(['tooltip.on', 'On tips'], '0.965 0.004 265', '0.985 0.003 265'),
  color(['nav', 'Sidebar'], '0.145 0.008 265', '0.97 0.004 265'),
  shadow(['low', 'Shadow of small layers'], [layer(1, 2, '4d')], [layer(1, 2, '26')]),
  shadow(['float', 'Shadow of floating layers'], [layer(12, 32, '73')], [layer(12, 32, '33')]),
];

interface SharedRow {
  name: string;
  label: string;
  kind: Kind;
  group: Group;
  value: TokenValue;
  min?: number;
  max?: number;
}

type Shared = (group: Group, kind: Kind) => (...[name, label, value]: [string, string, TokenValue]) => SharedRow;
const shared: Shared = (group, kind) => (name, label, value) => ({ name, label, kind, group, value });

const rem = (px: number): string => `${px / 16}rem`;

/** Font size and line height in px at the default text size, and weight. */
function step([name, label]: [string, string], [size, line, weight]: [number, number, number]): SharedRow[] {
  const length = shared('type', 'length');
  return [
    length(`type.${name}.size`, `${label}: size`, rem(size)),
    length(`type.${name}.line`, `${label}: height of a line`, rem(line)),
    shared('type', 'weight')(`type.${name}.weight`, `${label}: weight`, weight),
  ];
}

const font = shared('type', 'font');
const space = shared('space', 'length');
const shape = shared('shape', 'length');
const duration = shared('motion', 'duration');
const easing = shared('motion', 'easing');
const player = shared('player', 'color');
const playerSize = shared('player', 'length');

const SPACES = [2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96];

/** Tokens that are the same in light and dark. */
export const sharedTokens: readonly SharedRow[] = [
  font('type.family.body', 'Font', 'inter'),
  font('type.family.heading', 'Font of headings', 'inter'),
  font('type.family.mono', 'Font of code', 'system-mono'),
  font('type.family.subtitle', 'Font of subtitles', 'inter'),
  ...step(['caption', 'Caption'], [12, 16, 500]),
  ...step(['small', 'Small text'], [13, 18, 400]),
  ...step(['body', 'Text'], [15, 22, 400]),
  ...step(['strong', 'Strong text'], [15, 22, 600]),
  ...step(['lead', 'Lead'], [17, 26, 400]),
  ...step(['h3', 'Heading 3'], [20, 28, 600]),
  ...step(['h2', 'Heading 2'], [24, 32, 650]),
  ...step(['h1', 'Heading 1'], [32, 40, 700]),
  ...step(['display', 'Display'], [44, 52, 700]),
  { ...shared('type', 'number')('type.h1.tracking', 'Heading 1: tracking in em', -0.01), min: -0.1, max: 0.2 },
  { ...shared('type', 'number')('type.display.tracking', 'Display: tracking in em', -0.02), min: -0.1, max: 0.2 },
  shape('radius.card', 'Corners of cards', '8px'),
  shape('radius.control', 'Corners of controls', '8px'),
  shape('radius.chip', 'Corners of chips', '4px'),
  shape('radius.dialog', 'Corners of dialogs', '14px'),
  shape('radius.round', 'Corners of pills and avatars', '200px'),
  shape('border.width', 'Width of borders', '1px'),
  shape('focus.width', 'Width of the focus ring', '2px'),
  shape('focus.offset', 'Distance of the focus ring', '2px'),
  ...SPACES.map((px, index) => space(`space.${index + 1}`, `Space ${index + 1}`, `${px}px`)),
  space('space.page', 'Margin of the page', '32px'),
  space('space.rows', 'Between rows', '40px'),
  space('size.control', 'Height of controls', '40px'),
  space('size.control.touch', 'Height of controls under a finger', '48px'),
  duration('motion.press', 'Press', '80ms'),
  duration('motion.hover', 'Hover and focus', '140ms'),
  duration('motion.panel', 'Panels and sheets', '220ms'),
  duration('motion.page', 'Change of art', '320ms'),
  easing('motion.ease', 'Course of motion', 'foyer-out'),
  easing('motion.ease.leave', 'Course of leaving', 'foyer-in'),
  { ...shared('motion', 'number')('motion.scale.focus', 'Growth of focused art', 1.04), min: 1, max: 1.2 },
  player('player.surface', 'Behind the picture', 'oklch(0 0 0)'),
  player('player.scrim', 'Under the controls', 'oklch(0.12 0.008 265 / 0.72)'),
  player('player.text', 'Text', 'oklch(0.965 0.004 265)'),
  player('player.text.muted', 'Text, quiet', 'oklch(0.8 0.012 265)'),
  player('player.control', 'Buttons', 'oklch(0.965 0.004 265)'),
  player('player.track', 'Time line', 'oklch(1 0 0 / 0.25)'),
  player('player.buffered', 'Time line, loaded', 'oklch(1 0 0 / 0.45)'),
  player('player.played', 'Time line, played', 'oklch(0.78 0.13 75)'),
  player('player.marker', 'Chapters and markers', 'oklch(0.965 0.004 265)'),
  player('player.subtitle.text', 'Subtitles', '#ffffff'),
  player('player.subtitle.background', 'Behind subtitles', 'oklch(0 0 0 / 0.5)'),
  playerSize('player.track.height', 'Height of the time line', '4px'),
  playerSize('player.control.size', 'Size of buttons', '48px'),
];
