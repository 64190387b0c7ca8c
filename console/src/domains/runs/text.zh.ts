import type { SameKeys } from '../../kit/i18n.ts'
import type { en } from './text.en.ts'

export const zh: SameKeys<typeof en> = {
  state: {
    OFFERED: '已派发',
    RUNNING: '运行中',
    WAITING_APPROVAL: '等你处理',
    COMPLETED: '自称完成',
    FAILED: '失败',
    CANCELLED: '已取消',
    TIMED_OUT: '超时',
    CLOSED: '已关闭',
    IDLE: '尚无运行',
  },
  stateHint: {
    COMPLETED: '智能体报告已完成,尚无任何验证。',
  },
  run: '运行 {{number}}',
  effects: {
    NONE: '无影响',
    KNOWN: '影响已知',
    UNKNOWN: '影响未知',
  },
  approval: {
    asks: {
      TOOL: '请求使用工具',
      PLAN: '计划',
      QUESTION: '提问',
      HANDOFF: '交接',
    },
    waiting: '等你处理 · {{age}}',
    allow: '允许',
    deny: '拒绝',
    allowAndSteer: '允许并引导…',
    allowSteerSubmit: '允许并引导',
    steerLabel: '智能体应注意什么',
    steerHint: '工具会被允许,这段话作为引导发给运行 {{number}}。',
    steerFailed: '已允许,但引导没有送达该运行。',
    sendGuidance: '重新发送引导',
    ifIgnored: '若到 {{time}} 无人回答,则按“{{decision}}”处理。',
    timeLeft: '还剩 {{left}}',
    decided: {
      allow: '已允许',
      deny: '已拒绝',
    },
    answered: '已回答“{{decision}}”',
    by: '{{name}}',
    expired: '无人回答:“{{decision}}”',
    withdrawn: '已撤回,运行先结束了',
    notAllowed: '你不能回答:{{reason}}',
    noCapability: '缺少回答的权限',
    already: '已有人先回答',
    payload: '请求内容',
    option: '回答“{{option}}”',
    keys: '审批',
  },
}
