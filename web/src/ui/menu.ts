import type { IconName } from './icons.ts';

export interface MenuItem {
  label: string;
  icon?: IconName;
  href?: string;
  run?: () => void;
}
