" Syntax of programs of pldc. Made by tools/editors from the tables of the program.
if exists('b:current_syntax')
  finish
endif

" The dots of a path are no part of its words here, whatever the buffer says.
syn iskeyword @,48-57,_

syn keyword pldStatement as break continue elif else for from if import pass return while with
syn keyword pldStatement class nextgroup=pldClass skipwhite
syn keyword pldStatement def nextgroup=pldFunction skipwhite
syn keyword pldOperator and or not in
syn keyword pldConstant False None True
syn match pldFunction contained "\h\w*"
syn match pldClass contained "\h\w*"
syn match pldDecorator "@\h\w*\.\h\w*"
syn match pldCall "\<self\.\zs\h\w*"
syn match pldNumber "\<\d\+\%(\.\d*\)\=\%([eE][-+]\=\d\+\)\=\>\|\<0x\x\+\>"
syn region pldString start=+"+ skip=+\\.+ end=+"+ oneline
syn region pldString start=+'+ skip=+\\.+ end=+'+ oneline
syn match pldComment "#.*$" contains=pldTodo,@Spell
syn keyword pldTodo contained TODO FIXME XXX

" The words behind pl. and pld.
syn match pldPath "\<\%(pl\|pld\)\.\h\w*\%(\.\h\w*\)*" contains=pldOp,pldType,pldDtype,pldForm,pldEnum,pldMember

syn keyword pldOp contained abs add addc adds addsc aic_gather aic_initialize_pipe aiv_initialize_pipe aiv_shard all_to_all all_to_all_v
syn keyword pldOp contained allgather alloc alloc_window_buffer allreduce allreduce_ring and_ ands assemble async_prefetch
syn keyword pldOp contained available_aiv_count available_cluster_count bar_all bar_m bar_v barrier batch_matmul batch_matmul_acc
syn keyword pldOp contained broadcast cacheinvalid cast ci cmp cmps col_argmax col_argmin col_expand col_expand_add col_expand_div
syn keyword pldOp contained col_expand_expdif col_expand_max col_expand_min col_expand_mul col_expand_sub col_max col_min col_prod col_sum
syn keyword pldOp contained concat cos create create_l1 deduce_raises_internal deduce_raises_type defer_wait dim div divs exp expand_clone
syn keyword pldOp contained expands extract fence fillpad fillpad_expand fillpad_inplace fmod fmods full future_get gather gather_compare
syn keyword pldOp contained gather_mask gather_row gatherb gemv gemv_acc gemv_bias get get_block_idx get_block_num get_comm_ctx
syn keyword pldOp contained get_element get_subblock_idx import_peer_buffer load log lrelu make_context make_tensor matmul matmul_acc
syn keyword pldOp contained matmul_bias matmul_mx matmul_mx_acc matmul_mx_bias maximum maximums mgather minimum minimums move
syn keyword pldOp contained mrgsort_format1 mrgsort_format2 mscatter mul muls neg not_ notify nranks op or_ ors paged_gather part_add
syn keyword pldOp contained part_max part_min part_mul prelu put random rank read recip reduce_scatter reinterpret_view relu rem
syn keyword pldOp contained remote_load remote_store rems reserve_buffer reshape row_argmax row_argmin row_expand row_expand_add
syn keyword pldOp contained row_expand_div row_expand_expdif row_expand_max row_expand_min row_expand_mul row_expand_sub row_max row_min
syn keyword pldOp contained row_prod row_sum rsqrt scatter scatter_mask scatter_update sel sels session set_ffts set_validshape shl shls
syn keyword pldOp contained shr shrs sin slice sort32 sqrt store sub subc submit_orchestrator submit_worker subs subsc sync_dst sync_set
syn keyword pldOp contained sync_src sync_wait syncall task_dummy task_invalid task_is_valid tensor_op_no_conv tfree_to_aic tfree_to_aiv
syn keyword pldOp contained tget_scale_addr tpop_from_aic tpop_from_aiv tpush_to_aic tpush_to_aiv transpose transpose_view tree_reduce tri
syn keyword pldOp contained update_element view wait window world_size write xor xors
syn keyword pldType contained Array AsyncEvent AsyncSession CommCtx DistributedTensor InOut MemRef Out PrefetchAsyncContext Ptr Scalar
syn keyword pldType contained Tensor Tile Tuple Unknown WindowBuffer
syn keyword pldDtype contained BF16 BOOL FP16 FP32 FP4 FP8E4M3FN FP8E5M2 FP8E8M0 HF4 HF8 INDEX INT16 INT32 INT4 INT64 INT8 TASK_ID UINT16
syn keyword pldDtype contained UINT32 UINT4 UINT64 UINT8
syn keyword pldForm contained at cast cluster cond const cross_core_slot dynamic func_attr function graph max min no_dep parallel pipeline
syn keyword pldForm contained program range scope set_cache_policy split split_aiv spmd spmd_submit submit unroll while_ yield_
syn keyword pldEnum contained AccPhase AtomicType CompactMode FunctionType KernelType Level Mem NotifyOp PadValue PipeType ReduceOp Role
syn keyword pldEnum contained STPhase ScopeMode SplitMode SyncAllMode TensorLayout TileLayout WaitCmp adir
syn match pldMember "\%(\<\%(AccPhase\|AtomicType\|CompactMode\|FunctionType\|KernelType\|Level\|Mem\|NotifyOp\|PadValue\|PipeType\|ReduceOp\|Role\|STPhase\|ScopeMode\|SplitMode\|SyncAllMode\|TensorLayout\|TileLayout\|WaitCmp\|adir\)\.\)\@<=\%(AIC\|AIV\|ALL\|AUTO\|Acc\|Add\|AtomicAdd\|Bias\|CHIP\|CHIP_DIE\|CLUSTER_0\|CLUSTER_1\|CLUSTER_2\|CORE_GROUP\|DDR\|DN\|Eq\|FIX\|Final\|GLOBAL\|Ge\|Graph\|Group\|HARD\|HOST\|InCore\|Inline\|LEFT_RIGHT\|Left\|LeftScale\|M\|MANUAL\|MIX\|MTE1\|MTE2\|MTE3\|MX_A_ZZ\|MX_B_NN\|Mat\|Max\|Min\|ND\|NONE\|NZ\|None_\|Opaque\|Orchestration\|Orchestrator\|Partial\|Prod\|Right\|RightScale\|S\|SOFT\|ScalarLocal\|Set\|Spmd\|SubWorker\|Sum\|UP_DOWN\|Unspecified\|V\|Vec\|col_major\|inout\|input\|max\|min\|no_dep\|none_box\|normal\|null\|output\|output_existing\|row_major\|scalar\|zero\)\>" contained

hi def link pldStatement Statement
hi def link pldOperator Operator
hi def link pldConstant Boolean
hi def link pldFunction Function
hi def link pldClass Structure
hi def link pldDecorator PreProc
hi def link pldCall Function
hi def link pldNumber Number
hi def link pldString String
hi def link pldComment Comment
hi def link pldTodo Todo
hi def link pldOp Function
hi def link pldType Type
hi def link pldDtype Type
hi def link pldForm Keyword
hi def link pldEnum Structure
hi def link pldMember Constant

let b:current_syntax = 'pld'
