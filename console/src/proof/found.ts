// What a check found.

export interface Found {
  readonly state: "yes" | "no" | "open";
  readonly says: string;
}

export const yes = (says: string): Found => ({ state: "yes", says });
export const no = (says: string): Found => ({ state: "no", says });
export const open = (says: string): Found => ({ state: "open", says });
